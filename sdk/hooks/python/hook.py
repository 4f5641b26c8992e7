"""A safety checker: a hook for `host` that sees each call, denies what destroys and asks about secrets."""

from wit_world.exports import Handler
from wit_world.imports.types import Answer, Decision, Event, Moment

DESTROYS = ["rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd"]
"""What no call is to contain."""

SECRETS = [".env", "id_rsa", "credentials"]
"""What a user is to be asked about."""


def answer(decision: Decision | None = None, reason: str = "") -> Answer:
    """An answer that says nothing but this."""
    return Answer(decision=decision, reason=reason, arguments=None, context=None, message=None)


class Handler(Handler):
    def handle(self, event: Event) -> Answer:
        if event.moment != Moment.PRE_TOOL_USE or event.call is None:
            return answer()
        text = event.call.arguments
        for word in DESTROYS:
            if word in text:
                return answer(Decision.DENY, f"`{word}` destroys what cannot be restored")
        for word in SECRETS:
            if word in text:
                return answer(Decision.ASK, f"`{word}` may hold secrets")
        return answer()
