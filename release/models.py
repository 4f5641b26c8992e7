"""Makes host/model/src/catalogue.json, the built-in catalogue of models.

Usage: release/models.py LIST SOURCE DATE > host/model/src/catalogue.json

LIST is `model_prices_and_context_window_backup.json` of the Python package litellm (MIT), whose entries name the pages
of the services that they were read from; SOURCE names its version. Only facts are taken over: limits, prices, and what
a model accepts. A dated snapshot is left out if it says what its model says.
"""

import json, re, sys

SERVICES = {"anthropic": "claude", "openai": "gpt", "gemini": "gemini"}
# Models whose services speak OpenAI's format; what they cost depends on who runs them.
COMPATIBLE = ("deepseek", "xai", "mistral", "moonshot", "zai", "minimax", "groq")
SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest|preview-\d{2}-\d{4})$")
# What does other work than a conversation with tools.
OTHER = re.compile(r"audio|tts|search|deep-research|computer-use|robotics|lyria|omni|learnlm|exp-|embed|image|ft:|"
                   r"voxtral|guard|realtime|live|customtools|gemini-gemma|rosalind|cyber|daybreak|astra-law|instruct|"
                   r"beta|vibe-cli|labs-|moonshot-v1|multi-agent|-gv2|-fim-|ministral")


def million(value):
    return float(f"{value * 1e6:.6g}") if value is not None else None


def prices(model, suffix=""):
    """Of a million tokens: sent, sent and cached, written to the cache, received."""
    found = {
        "input": million(model.get(f"input_cost_per_token{suffix}")),
        "cached": million(model.get(f"cache_read_input_token_cost{suffix}")),
        "cache_write": million(model.get(f"cache_creation_input_token_cost{suffix}")),
        "output": million(model.get(f"output_cost_per_token{suffix}")),
    }
    return {name: price for name, price in found.items() if price is not None}


def efforts(name, family, model):
    if not model.get("supports_reasoning"):
        return []
    given = model.get("reasoning_effort_levels")
    if given:
        return given
    if family == "claude" and not model.get("supports_output_config"):
        return []
    if family == "claude" and not model.get("thinking_always_on"):
        model = {**model, "supports_none_reasoning_effort": True}
    if family == "gemini" and not re.match(r"gemini-([3-9]|\d\d|flash|pro)", name):
        return []
    if family == "other":
        return []
    found = ["low", "medium", "high"]
    for effort in ("minimal", "none"):
        if model.get(f"supports_{effort}_reasoning_effort"):
            found.insert(0, effort)
    return found + [effort for effort in ("xhigh", "max") if model.get(f"supports_{effort}_reasoning_effort")]


def tools(name, family, model):
    """The kinds of tools that a model takes, from the services' pages in November 2026 where the list does not say.
    Deferred tools: at Anthropic all models here, at OpenAI those since GPT-5.4 that the list has with them. Custom tools
    came with GPT-5, and not to its models for chatting. A search by the service: OpenAI's models since GPT-4o but the
    smallest, Google's since Gemini 2."""
    found = ["functions"]
    if family == "gpt" and re.match(r"gpt-[5-9]", name) and "-chat" not in name:
        found.append("custom")
    since_5_4 = re.match(r"gpt-(5\.([4-9]|\d\d)|[6-9])", name)
    if family == "claude" or family == "gpt" and since_5_4 and model.get("supports_tool_search"):
        found.append("deferred")
    searches = {"claude": r"", "gpt": r"gpt-(4o|4\.1(?!-nano)|[5-9])|chat-latest|o3(?!-mini)|o4",
                "gemini": r"gemini-([2-9]|flash|pro)"}
    if family in searches and re.match(searches[family], name):
        found.append("web_search")
    return found


def entry(name, family, model):
    found = {"id": name, "family": family, "window": int(model["max_input_tokens"])}
    # Some lists give the window as the limit of an answer, which limits nothing.
    if model.get("max_output_tokens") and model["max_output_tokens"] < found["window"]:
        found["output"] = int(model["max_output_tokens"])
    accepted = efforts(name, family, model)
    if accepted:
        found["efforts"] = accepted
    for kind, key in (("images", "supports_vision"), ("pdfs", "supports_pdf_input")):
        if model.get(key):
            found[kind] = True
    found["tools"] = tools(name, family, model)
    found["wire"] = {"claude": "anthropic", "gpt": "openai-responses", "gemini": "gemini", "other": "openai"}[family]
    if family != "other" and model.get("input_cost_per_token"):
        found["prices"] = prices(model)
        steps = sorted(int(m[1]) for key in model if (m := re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key)))
        if steps:
            found["long"] = {"above": steps[0] * 1000, **prices(model, f"_above_{steps[0]}k_tokens")}
    return found


def main():
    path, source, date = sys.argv[1:]
    models = {}
    for name, model in json.load(open(path)).items():
        service = model.get("litellm_provider")
        family = SERVICES.get(service, "other" if service in COMPATIBLE else None)
        name = name.rsplit("/", 1)[-1]
        if family is None or model.get("mode") not in ("chat", "responses") or OTHER.search(name):
            continue
        if not model.get("max_input_tokens") or not model.get("supports_function_calling"):
            continue
        # A name of an open model means the same model wherever it runs; the smallest window is the safe one.
        known = models.get(name)
        if known is None or family != "other":
            models[name] = entry(name, family, model)
        elif known["family"] == "other":
            known["window"] = min(known["window"], int(model["max_input_tokens"]))
    def says(name):
        return {key: value for key, value in models[name].items() if key != "id"}
    kept = [name for name in models if not ((base := SNAPSHOT.sub("", name)) in models and base != name
                                            and says(base) == says(name))]
    order = {"claude": 0, "gpt": 1, "gemini": 2, "other": 3}
    kept.sort(key=lambda name: (order[models[name]["family"]], name))
    lines = ",\n".join("    " + json.dumps(models[name], separators=(",", ":"), ensure_ascii=False) for name in kept)
    print(f'{{\n  "source": {json.dumps(source)},\n  "read": "{date}",\n  "models": [\n{lines}\n  ]\n}}')


main()
