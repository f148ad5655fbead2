"""Short things that candidates say, made by our own voices: commands in many words, and ordinary short answers.

The same sounds for the same seed: each voice speaks from a process of its own, because in every sound are traces of
what its process spoke before.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.speech.catalogue import VOICES
from app.speech.engines.espeak import EspeakSpeaker
from app.speech.ports import SPEECH_RATE
from app.speech.sound import resample

NOISES = (60.0, 100.0, 200.0)
"""Standard deviation of the room's noise in 16-bit steps: quiet, ordinary, a fan."""
NEW_VOICES = tuple(VOICES)[1::2]
"""The second look was fitted to the other eight."""
CHUNK = 8000
COMMANDS = {
    "repeat": (
        "Repeat that.", "Can you repeat that?", "Could you please repeat the question?",
        "Repeat the question, please.", "Could you repeat that please?", "Can you say that again?",
        "Say that again, please.", "Can I hear the question again?", "What was the question?",
        "What was the question again?", "Sorry, what was that?", "What did you say?", "What did you ask?", "Pardon?",
        "I beg your pardon?", "One more time please.", "I didn't hear you.", "I did not understand the question.",
        "Sorry, I didn't catch that.", "I couldn't hear the question.", "Could you ask that question again?",
        "Please repeat.", "Repeat it again please.",
    ),
    "skip": (
        "Next question.", "Next question, please.", "The next question, please.", "Go to the next question.",
        "Let's move on to the next question.", "Okay, let's move on to the next question.",
        "Can we go to the next question?", "Skip to the next one.", "Skip.", "Skip it.", "Skip this question.",
        "Can I skip this question, please?", "I want to skip this question.", "I'd like to skip that one.",
        "I would like to skip this question.", "Move on to the next one.",
    ),
    "think": (
        "Let me think.", "Let me think about it.", "Let me think about that for a moment.",
        "Let me just think for a second.", "Let me see.", "Give me a moment.", "Just give me a minute to think.",
        "Give me some time to think.", "One moment please.", "Just a moment.", "Just a second.", "One minute please.",
        "Wait.", "Wait a moment.", "Hold on.", "Hold on a second.", "Hang on.", "I need to think about that.",
        "I have to think about it for a moment.", "I need a moment to think.", "I need some time to think.",
    ),
    "stop": (
        "Stop here.", "Please stop here.", "Can we stop here?", "I want to stop here.", "Stop the interview.",
        "Please stop the interview.", "I want to end the interview.", "I would like to end the interview here.",
        "End the interview please.", "I'd like to finish this interview now.", "Let's stop here.",
        "Can we end the interview?",
    ),
    "yes": (
        "Yes.", "Yes please.", "Yeah.", "Yep.", "Yes I do.", "Yes, end it.", "Yes, end the interview.",
        "Yes, stop here.", "Please end it.", "Yes I want to end it.",
    ),
    "no": (
        "No.", "No thanks.", "No thank you.", "Nope.", "No please go on.", "No, continue.", "Not yet.",
        "No, not yet.", "Let's go on.", "Continue.", "Let's continue.", "No I don't.",
    ),
}  # fmt: skip
ANSWERS = (
    "Three years.", "Yes I did that.", "I like the people.", "Because I like it.", "I have never done that.",
    "About five years ago.", "I worked in a hospital.", "Yes, of course.", "No, never.", "I don't know.",
    "I am not sure.", "Maybe next year.", "Last summer.", "In Berlin.", "My sister told me.",
    "I read about it online.", "From a friend.", "I can start next month.", "In two weeks.", "As soon as possible.",
    "Four thousand a month.", "It depends.", "I speak English and German.", "Only a little.",
    "I learned it at school.", "I am a nurse.", "I was a teacher before.", "I drive a truck.",
    "Yes, I have a license.", "On weekends too.", "I prefer mornings.", "Night shifts are fine.",
    "I like working with numbers.", "Working with people.", "The salary.", "The team was great.",
    "My boss was difficult.", "I was bored.", "The company closed.", "I wanted to learn more.",
    "I moved to this city.", "It was too far away.", "I had two children.", "I took care of my mother.",
    "I finished my studies.", "I have a degree in biology.", "I studied law.", "No, I did not finish.", "Ten people.",
    "We were a small team.", "I was the team leader.", "I was responsible for the budget.", "I sold cars.",
    "I answered the phone.", "I repaired machines.", "I cooked for fifty guests.", "I clean offices.",
    "I wrote the reports.", "I planned the shifts.", "I trained new people.", "Excel and Word.",
    "I use a computer every day.", "Yes, quite often.", "Sometimes.", "Every day.", "Once a week.", "Never before.",
    "Not really.", "I would call my manager.", "I would ask for help.", "I would stay calm.", "I would listen first.",
    "I made a list.", "I asked my colleague.", "We found a solution.", "It took three days.",
    "The customer was happy.", "I learned a lot from it.", "I made a mistake.", "I said I was sorry.",
    "I am patient.", "I am always on time.", "I like to help.", "I get up early.", "I enjoy cooking.",
    "Football and music.", "I read books.", "I have a dog.", "With my family.", "I go swimming.",
    "It is close to my home.", "I know your products.", "You have a good name.", "A friend works here.",
    "I saw your advertisement.", "I want a new challenge.", "More responsibility.", "I want to grow.",
    "In five years.", "As a manager maybe.", "I hope so.", "That is right.", "Exactly.", "I think so.",
    "Not that I know.", "I can do that.", "That is no problem.", "That would be great.", "I need two days.",
    "I need a visa.", "I have to travel a lot.", "I had to wait for a month.", "I needed more time.",
    "The next step was hard.", "The question was about money.", "I stopped after two years.",
    "I left the interview happy.", "I repeated the test.", "I asked my boss again.", "I think about my family.",
    "One year.", "One moment was very funny.", "I finished school here.", "We stopped working there.",
    "I was in the next room.", "Just a few weeks.", "A little bit.", "A minute or two.", "Second shift.",
    "Eight hours.", "Yesterday.", "Tomorrow.", "Twenty five.", "Seven.", "Part time.", "Full time.", "From home.",
    "By train.", "By bike.", "With the bus.", "Green.", "Honest.", "Friendly.", "Fast.", "Careful.", "Hard work.",
    "Good communication.", "Trust.", "Respect.", "Money.", "Yes, for two years.", "Yes, I think so.",
    "Yes, many times.", "Yes, in my last job.", "No, not at all.", "No, but I can learn.", "No, I have no car.",
    "No problem.", "Nothing special.", "Nobody.", "I know how to wait.", "Give people time.", "I gave him a minute.",
    "Let people think.", "I let him see it.", "I see.", "Thank you.", "Thanks a lot.", "Good morning.", "Hello.",
    "He went on.", "She continued.", "They ended it.", "We went to the next town.", "Then I quit.",
    "I quit last year.", "I did not hear about it.", "I did not understand him.", "I could not catch the train.",
    "That was it.", "What I like is the sea.", "What was hard was the noise.", "I said it again.",
    "I told them again and again.", "I beg for patience.", "I hold a degree.", "I hang pictures.",
    "I skip breakfast.", "I would like to lead.", "I want to stay here.", "I stay here.", "I live here.",
    "My parents are here.", "I want to work here.", "I would like to work with you.", "I would like to learn this.",
    "I need some help.", "I need a job.", "I have to pay rent.", "I have time.",
)  # fmt: skip
"""Many of them have words of commands in them."""


@dataclass(frozen=True)
class Said:
    """One utterance in its room, in whole chunks; ``meaning`` is that of commands.toml, or ``answer``."""

    meaning: str
    text: str
    voice: str
    noise: float
    pcm: bytes


def short_sayings(*, per_saying: int = 1, seed: int = 1, voices: tuple[str, ...] = tuple(VOICES)) -> Iterator[Said]:
    """Every command and every answer, each in ``per_saying`` voices."""
    texts = [(meaning, text) for meaning, all_of in COMMANDS.items() for text in all_of]
    texts += [("answer", text) for text in ANSWERS]
    rng = random.Random(seed)
    wanted = [(voice, meaning, text) for meaning, text in texts for voice in rng.sample(voices, per_saying)]
    for voice in voices:
        speaker = EspeakSpeaker()
        try:
            for _, meaning, text in (one for one in wanted if one[0] == voice):
                noise = rng.choice(NOISES)
                yield Said(meaning, text, voice, noise, in_a_room(speaker, text, voice, noise=noise, rng=rng))
        finally:
            speaker.close()


def in_a_room(speaker: EspeakSpeaker, text: str, voice: str, *, noise: float, rng: random.Random) -> bytes:
    """Nearer or farther from the microphone, with the silence of a turn before and after it."""
    made = speaker.speak(text, voice_id=voice, language="en-US")
    samples = np.frombuffer(resample(made.pcm, made.rate, SPEECH_RATE), "<i2").astype(np.float64)
    loud = np.flatnonzero(np.abs(samples) > 150)
    before, after = (round(rng.uniform(*seconds) * SPEECH_RATE) for seconds in ((0.2, 0.7), (0.5, 1.4)))
    speech = samples[loud[0] : loud[-1] + 1] * rng.uniform(0.5, 1.0)
    whole = np.concatenate([np.zeros(before), speech, np.zeros(after)])
    whole = np.concatenate([whole, np.zeros(-len(whole) % CHUNK)])
    whole += np.random.default_rng(rng.randrange(2**32)).normal(0, noise, len(whole))
    return bytes(np.clip(whole, -32768, 32767).astype("<i2").tobytes())
