"""Judges a task: prints its cell of the table, and what is wrong on standard error; ends with 1 if anything is.

Usage: judge.py RESULT "QUESTIONS ENDED", with the words that must be in what the calls answered in `MUST`, and those
that must not be there in `NEVER`, as regular expressions.
"""

import json, os, re, sys


def main():
    found = json.load(open(sys.argv[1]))
    questions, wanted = sys.argv[2].split(" ", 1)
    fewest, _, most = questions.partition("-")
    bad = [call for call in found["calls"] if call["status"] != "success" or call["code"] not in (0, None)]
    if not bad:
        ended = "ok"
    else:
        ended = "denied" if bad[0]["status"] != "success" else f"exit {bad[0]['code']}"
    asked, said = len(found["questions"]), "\n".join(call["said"] for call in found["calls"])
    print(f"{asked} asked, {ended}")
    wrong = []
    if not int(fewest) <= asked <= int(most or fewest):
        wrong.append(f"{asked} questions, not {questions}")
    if ended != wanted:
        wrong.append(f"it ended with `{ended}`, not `{wanted}`")
    if found["again"]:
        wrong.append(f"asked again after a yes: {found['again']}")
    if found["stopped"] != "end_turn":
        wrong.append(f"the run stopped: {found['stopped']}")
    must, never = os.environ["MUST"], os.environ["NEVER"]
    if must and not re.search(must, said):
        wrong.append(f"nothing says `{must}`")
    if never and (blamed := re.search(never, said)):
        wrong.append(f"it says `{blamed.group()}`")
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    for question in found["questions"]:
        print(f"? {question['asked']}\n  > {question['answer']}", file=sys.stderr)
    for call in found["calls"]:
        print(f"--- {call['status']}, exit {call['code']}\n{call['said'][-2500:]}", file=sys.stderr)
    sys.exit(bool(wrong))


main()
