"""Causal: tests of conditional independence and Markov blankets."""
