"""Placeholder."""
def progress(state, sentences, kind, now):
    return {"random": None, "curve": [], "types": [], "per_hour": None, "minutes": 0.0, "keys": {"pressed": 0, "by_hand": 0, "saved": None}, "unchanged": None, "advice": {"state": "early", "text": ""}, "users": []}
