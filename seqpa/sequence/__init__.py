"""From words to labels: templates, the encoder, the learner on chains, the tagger.

A sentence x with labels y has the score ``w·Φ(x, y)``: for each token the weights of its features
for its label, for each pair of neighbours the weight of the transition (PA 2006, §9). Training
meets one sentence after another, asks Viterbi for the best labels ŷ, and where they cost ρ(y, ŷ)
moves w so that y wins by √ρ. This is the map of the package, in reading order.

What is seen of a word
    `patterns`     regular expressions in linear time
    `attributes`   functions of a word: lower case, shape, suffixes, a cluster, a lexicon
    `templates`    the language in which features are written: ``word[-1]|suffix(3)[0]``
    `presets`      lists of templates that do well: "pos", "ner", "chunk", "ner-document"
    `resources`    lexicons and word clusters, from files or from a model
    `affixes`      all prefixes and suffixes of unknown words, found by their characters
    `tag_dictionary`  which labels a word had in training: ``tags[0]``, ``besttag[0]``
    `tag_counts`   what it counts in a text, by arrays
    `elsewhere`    the same word elsewhere in the document: ``elsewhere(lower, -1)``
Words to numbers
    `word_tables`  numbers for words and their attributes' values; they grow while training
    `tables`       numbers for features, which grow too
    `encode`       sentences of words to arrays of feature numbers, by templates
    `dicts`        the same for tokens that already are features
    `seen`         marks of the sentences learned from, by which a text is known again
    `inputs`       what a user may call a sentence; which of the two encoders it needs
Rules and costs
    `costs`        what wrong labels cost: Hamming, spans, a hierarchy, any function
    `balance`      how much more a missed span counts, measured
    `constraints`  which label may follow which
Numbers to labels
    `checks`       what weights from a file must satisfy
    `weights`      the weights: fixed ones, and those that are being trained
    `chain`        the kernel's chain over them, and its scratch memory
    `decoder`      the best labels, the n best, margins
    `composed`     weights that are added up before tagging, so that tokens have fewer rows
    `tagging`      sentences in, label lists out, as fast as it goes
    `streams`      pieces of a stream, with what tagging looks at around them
    `explain`      why a token got its label
    `marginals`    how probable labels, spans and label sequences are
    `scale`        the scale of these probabilities, fitted
    `select`       which sentences to label next
Training
    `batches`      several sentences, one step
    `bench`        what training works with, kept from lesson to lesson
    `learner`      one epoch: decode, cost, τ, update
    `generators`   the states of random generators, for files
    `replay`       some of the earlier sentences, to be learned again (cut and joined by `pieces`)
    `epoch_line`   one epoch in words
    `training`     the loop over epochs, the dev set, patience; what is kept between epochs
    `votes`        what a second stage sees of the first one's labels
    `orders`       several orders of the sentences, and the mean of their weights
    `stages`       the first stage, trained and jackknifed for the second
    `arguments`    parameters, dev sets, fixed labels and weights that users give
    `live`         tagging with weights that are being trained
What is learned
    `trained`      what tags and what a model file holds; where a tagger stands
    `chained`      columns that other taggers predict (`folds`: what they must not have seen)
    `answers`      labels, alternatives, probabilities, reasons: what a tagger is asked
    `tagger`       `SequenceTagger`, the class that users meet
    `bounds`       the loss bounds of a training run, as a certificate

An epoch is `training.run`, `learner.ChainLearner.epoch` and the compiled loop in
``seqpa/_kernel/trainer.py``. Strings stop at the encoder and come back only in `tagging`.
"""
