"""The search over configurations: `seqpa tune`.

In reading order:

    space       what may be tried: the section ``tune``, or a sensible one
    trial       one training, which ends early where it falls behind: a pure task
    pools       who makes trials: this process, several, or a cluster
    study       which trial comes next, in a SQLite file that survives a crash
    outcome     the best configuration as YAML, importance and history as pictures
"""
