"""Chain of Explorations: a language model walks a graph step by step."""
