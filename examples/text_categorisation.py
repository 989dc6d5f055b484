"""Text categorisation with label-dependent features (PA 2006, §7).

Three topics, a few short texts of each. A word counts for a topic as it is rare in the others
(`LabelTfidf`), so one single weight vector, a weight for each word, serves all topics. Beside it
stands a weight vector for each topic on plain counts.

    python examples/text_categorisation.py
"""

from __future__ import annotations

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from seqpa import LabelTfidf, PAClassifier

TEXTS = {
    "kitchen": """
        Fry the onions in butter until they are golden, then add the rice.
        Knead the dough for ten minutes and let it rise under a damp cloth.
        A pinch of salt brings out the taste of the chocolate.
        Boil the potatoes in their skins and peel them while they are hot.
        The soup wants more pepper and a spoon of cream.
        Bake the bread in a hot oven until the crust is brown.
        Whisk the eggs with sugar and fold in the flour.
        Let the sauce simmer with garlic and a little wine.
        Slice the tomatoes, add oil and salt, and serve with bread.
        Butter the tin before you pour in the dough.
        The lentils are soft after half an hour in the pot.
        Roast the carrots with honey and pepper in the oven.
    """,
    "weather": """
        Heavy rain is expected along the coast by the evening.
        The fog will lift by noon and the sun will come through.
        A cold wind from the north brings snow to the hills.
        Thunder and hail passed over the valley during the night.
        Temperatures fall below zero and roads may be icy.
        The warm front moves east, with clouds and light rain.
        After a dry week the storm came as a surprise to the coast.
        Frost in the valley, sun on the hills, little wind.
        Showers in the morning, brighter with a light wind later.
        The snow melts fast now that the warm wind has come.
        Clouds gather in the west and the night will be mild.
        A storm warning is out for the north until noon.
    """,
    "chess": """
        White gives up a pawn to open the file for the rook.
        The bishop pins the knight and black must castle now.
        With two rooks on the file the attack wins the queen.
        Black answers the king's pawn with a pawn on the other side.
        The endgame is a draw, for the king cannot leave the corner.
        She offered her queen and gave mate three moves later.
        A knight in the middle of the board attacks eight squares.
        He lost on time although his pawn was about to promote.
        The opening gives white the centre and black the bishop pair.
        Castle early, move each knight once, and watch the open file.
        The rook behind the passed pawn decides the endgame.
        Black took the bishop and missed the mate in two moves.
    """,
}


def main() -> None:
    """Cross-validate both kinds of features and look at one prediction."""
    texts, topics = [], []
    for topic, block in TEXTS.items():
        lines = [line.strip() for line in block.strip().splitlines()]
        texts += lines
        topics += [topic] * len(lines)

    tfidf = PAClassifier(C=0.001, features=LabelTfidf(), random_state=1)
    single = make_pipeline(CountVectorizer(), tfidf)
    plain = make_pipeline(CountVectorizer(), PAClassifier(C=0.01, random_state=1))
    for name, model in (
        ("one vector, label-dependent", single),
        ("a vector for each topic", plain),
    ):
        accuracy = cross_val_score(model, texts, topics, cv=6).mean()
        print(f"{name:28} accuracy {accuracy:.3f}")

    single.fit(texts, topics)
    text = "The wind brings rain and the king of the hills is snow."
    scores = single.decision_function([text])[0]
    ranking = sorted(zip(scores, single.classes_, strict=True), reverse=True)
    print(text)
    print("  " + "  ".join(f"{topic} {score:.2f}" for score, topic in ranking))


if __name__ == "__main__":
    main()
