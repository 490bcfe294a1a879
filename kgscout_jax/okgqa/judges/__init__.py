"""Judges of open answers: G-Eval, FActScore, SAFE."""
