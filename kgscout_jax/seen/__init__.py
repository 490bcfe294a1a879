"""What people and programs see of training runs: their state and their curves."""
