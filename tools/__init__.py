"""What the project's own checks are made of; nothing that users need."""
