"""A Whisper of sixty thousand numbers that says one sentence, whatever it hears: all of the real thing but its ears.

Each position of the decoder has a direction of its own, and the embedding of the token that is due there points in it.
"""

from pathlib import Path

import numpy as np
import tokenizers
from ctranslate2.specs.whisper_spec import WhisperSpec
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from app.gateways.speech import engines

PROGRAM = Path(engines.__file__).with_name("whisper_child.py")
LETTERS = sorted(ByteLevel.alphabet())
LANGUAGES = ("en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt", "hi", "ar", "th", "vi", "no")
SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    *(f"<|{language}|>" for language in LANGUAGES),
    *(f"<|language{number}|>" for number in range(99 - len(LANGUAGES))),
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
    *(f"<|{number / 50:.2f}|>" for number in range(1501)),
)
FIRST_SPECIAL = 50_257
"""As in the real multilingual models, the empty token before them included: by it CTranslate2 knows such a model."""
MELS, STRONG, SURE = 80, 20.0, 3.0
PROMPT = 4


def write(folder: Path, sentence: str, *, width: int = 64) -> Path:
    """Write a model directory; it says `sentence`, of at most `width` - 6 words of plain letters."""
    folder.mkdir(parents=True, exist_ok=True)
    merges = list(dict.fromkeys(pair for word in sentence.split() for pair in _merges(f"Ġ{word}")))
    pieces = [*LETTERS, *dict.fromkeys("".join(pair) for pair in merges)]
    unused = (f"unused{number}" for number in range(FIRST_SPECIAL - len(pieces) - 1))
    tokens = [*pieces, *unused, "", *SPECIAL]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    bpe = tokenizers.Tokenizer(BPE(vocab=vocabulary, merges=merges))
    bpe.pre_tokenizer = ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    bpe.add_special_tokens([tokenizers.AddedToken(token, special=True) for token in SPECIAL])
    bpe.save(str(folder / "tokenizer.json"))

    said = [*bpe.encode(f" {sentence}", add_special_tokens=False).ids, vocabulary["<|endoftext|>"]]
    spec = WhisperSpec(1, 2, 1, 2)
    _fill_encoder(spec.encoder, width)
    _fill_decoder(spec.decoder, width, said, len(tokens))
    spec.register_vocabulary(tokens)
    spec.config.add_attribute("suppress_ids", [])
    spec.config.add_attribute("suppress_ids_begin", [])
    spec.config.add_attribute("lang_ids", [vocabulary[f"<|{language}|>"] for language in LANGUAGES])
    spec.config.add_attribute("alignment_heads", [[0, 0]])
    spec.validate()
    spec.save(str(folder))
    return folder


def _merges(word: str) -> list[tuple[str, str]]:
    """What makes one token of a word: a space with its first letter, that with the second one, and so on."""
    return [(word[:place], word[place]) for place in range(1, len(word))]


def _fill_encoder(encoder, width: int) -> None:
    random = np.random.default_rng(0)
    encoder.conv1.weight = random.normal(0, 0.1, (width, MELS, 3)).astype(np.float32)
    encoder.conv1.bias = np.zeros(width, np.float32)
    encoder.conv2.weight = random.normal(0, 0.1, (width, width, 3)).astype(np.float32)
    encoder.conv2.bias = np.zeros(width, np.float32)
    encoder.position_encodings.encodings = np.zeros((1_500, width), np.float32)
    _norm(encoder.layer_norm, width)
    for layer in encoder.layer:
        _attention(layer.self_attention, width, parts=(3, 1))
        _feed_forward(layer.ffn, width)


def _fill_decoder(decoder, width: int, said: list[int], size: int) -> None:
    words = np.zeros((size, width), np.float32)
    places = np.zeros((448, width), np.float32)
    for place, token in enumerate(said, PROMPT - 1):
        places[place, place] = STRONG
        words[token, place] = SURE
    decoder.embeddings.weight = words
    decoder.position_encodings.encodings = places
    decoder.projection.weight = words
    _norm(decoder.layer_norm, width)
    decoder.scale_embeddings = False
    for layer in decoder.layer:
        _attention(layer.self_attention, width, parts=(3, 1))
        _attention(layer.attention, width, parts=(1, 2, 1))
        _feed_forward(layer.ffn, width)


def _norm(norm, width: int) -> None:
    norm.gamma = np.ones(width, np.float32)
    norm.beta = np.zeros(width, np.float32)


def _attention(attention, width: int, *, parts: tuple[int, ...]) -> None:
    _norm(attention.layer_norm, width)
    for linear, part in zip(attention.linear, parts, strict=True):
        linear.weight = np.zeros((part * width, width), np.float32)
        linear.bias = np.zeros(part * width, np.float32)


def _feed_forward(ffn, width: int) -> None:
    _norm(ffn.layer_norm, width)
    for linear in (ffn.linear_0, ffn.linear_1):
        linear.weight = np.zeros((width, width), np.float32)
        linear.bias = np.zeros(width, np.float32)
