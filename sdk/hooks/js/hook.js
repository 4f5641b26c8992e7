// A safety checker: a hook for `host` that sees each call, denies what destroys and asks about secrets.

/** What no call is to contain. */
const DESTROYS = ["rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd"];

/** What a user is to be asked about. */
const SECRETS = [".env", "id_rsa", "credentials"];

/** @returns an answer that says nothing but this. */
const answer = (said = {}) => ({
  decision: undefined,
  reason: "",
  arguments: undefined,
  context: undefined,
  message: undefined,
  ...said,
});

export const handler = {
  handle(event) {
    if (event.moment !== "pre-tool-use" || event.call === undefined) return answer();
    const found = (words) => words.find((word) => event.call.arguments.includes(word));
    const destroys = found(DESTROYS);
    if (destroys) return answer({ decision: "deny", reason: `\`${destroys}\` destroys what cannot be restored` });
    const secret = found(SECRETS);
    if (secret) return answer({ decision: "ask", reason: `\`${secret}\` may hold secrets` });
    return answer();
  },
};
