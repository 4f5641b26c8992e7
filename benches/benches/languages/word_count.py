"""The example `word_count` as a program: what a host without components would start for each call."""

import json
import re
import sys
from collections import Counter

arguments = json.loads(sys.argv[1])
path, top = arguments["path"], arguments.get("top", 10)
with open(path, "rb") as file:
    data = file.read()
text = data.decode("utf-8")

lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
words = [word.lower() for word in re.findall(r"[A-Za-z]+", text)]
counts = sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0]))[:top]

said = [f"{lines} lines, {len(words)} words, {len(data)} bytes"]
said += [f"{count} {word}" for word, count in counts]
print("\n".join(said))
