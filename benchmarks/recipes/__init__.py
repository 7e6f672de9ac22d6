"""The published systems: what each costs, beside whether the answer is right."""
