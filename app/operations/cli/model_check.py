"""What ``parley check`` says about the language model: the configured one, or one that runs on this machine unused."""

from app.core.errors import GatewayError
from app.gateways.language_model import local
from app.settings import Settings

MOST_NAMED = 5
WITHOUT = "none is configured; the agent asks the scripted questions, and scores that need one stay empty"


def look_at_language_model(config: Settings) -> tuple[bool, str]:
    """Never a failure: interviews work without a language model."""
    if config.llm_base_url:
        return True, f"{config.llm_model} at {config.llm_base_url}"
    place = local.OLLAMA.removeprefix("http://")
    try:
        models = local.ollama_models(local.OLLAMA)
    except GatewayError as error:
        return True, f"{WITHOUT}; what listens at {place} {error.message}"
    if models is None:
        return True, WITHOUT
    if not models:
        return True, f"{WITHOUT}; Ollama at {place} has no model for conversations (ollama pull)"
    more = f" and {len(models) - MOST_NAMED} more" if len(models) > MOST_NAMED else ""
    return True, (
        f"none is configured; Ollama at {place} offers {', '.join(models[:MOST_NAMED])}{more}; set "
        f"LLM_BASE_URL={local.OLLAMA}/v1 and LLM_MODEL={models[0]} to use it"
    )
