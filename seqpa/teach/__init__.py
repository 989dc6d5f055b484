"""Labelling in a browser, by a tagger that learns with every sentence; in reading order:

- `store`: the project file, one SQLite file to which events are appended.
- `events`: the kinds of events, and labels as a fold of them.
- `labels`: the label set: names, keys and colours, and how they change.
- `model`: what is learned from the events, sentence by sentence.
- `queue`: which sentence comes next.
- `keystrokes`: how many keys a labelling costs.
- `team`: users, sentences that are lent out, second readers, agreement.
- `curve`: how sure a score is, and what more sentences would bring.
- `progress`: how good the tagger is by now, and what it saves.
- `project`: a project file as it was made, and how it is made.
- `learning`: the model that the events make, forwards and back.
- `ledger`: how every change is made, and a request that comes twice made once.
- `desk`: which sentence goes to whom, and why that one.
- `tasks`, `browse`, `views`: what is shown: a sentence, rows of them, the whole.
- `session`: all of these together: what the page calls; `background` works in between.
- `training`: full training on what is labelled.
- `app`, with `messages` and `page`: the session behind HTTP; `running` serves it.
- `annotator`, `simulate`, `simulation`: an annotator who knows the labels plays; what each
  strategy takes.
"""
