"""The main job from end to end against a running platform, over the same HTTP as everyone else."""
