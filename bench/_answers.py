"""A hundred and fifty sentences as people say them in interviews: names, numbers and words of trades."""

import re

ANSWERS = tuple(
    line.strip()
    for line in """
    My name is Jonathan Whitfield, and I was born in Sheffield in 1987.
    I studied mechanical engineering at the University of Leeds and graduated in 2009.
    For the last six years I have worked as a welder in a shipyard in Gdansk.
    At Siemens I was responsible for a team of fourteen technicians.
    We reduced the scrap rate from eight percent to three percent within a year.
    I hold a forklift licence and a certificate in first aid.
    My supervisor, Mrs. Petersen, asked me to train the new apprentices.
    I can read circuit diagrams and I have programmed programmable logic controllers.
    On a normal day I prepare about two hundred meals in the hospital kitchen.
    We had three nurses for thirty two patients, so I learned to set priorities.
    I speak English, Spanish and a little Portuguese.
    In 2016 I moved to Rotterdam to work as a crane operator.
    The hardest part was explaining the delay to our customer in Munich.
    I once repaired a hydraulic pump with parts from an old excavator.
    Our call centre answered around nine hundred calls a day.
    I wrote the documentation for a payment system in Python and PostgreSQL.
    We moved forty five servers to Kubernetes without any downtime.
    I usually write unit tests before I write the code.
    The patient had diabetes, so I checked her blood sugar every four hours.
    I worked night shifts at the airport in Frankfurt for eighteen months.
    My first job was in a bakery, where I started at three in the morning.
    I can operate a lathe, a milling machine and a drill press.
    We built a warehouse with a floor area of twelve thousand square metres.
    I was the only electrician on the site for two weeks.
    The inspector from the health department found no violations.
    I manage invoices, payroll and travel expenses for sixty employees.
    Last year I closed deals worth one million two hundred thousand dollars.
    My colleague Priya taught me how to use pivot tables.
    I prefer to solve a conflict by talking to the person directly.
    When the conveyor belt stopped, I called the maintenance crew at once.
    I have a commercial driving licence for trucks of up to forty tonnes.
    In my last position I delivered parcels to eighty addresses a day.
    The child was afraid of the needle, so I told him a story about a dragon.
    I taught mathematics to children between eleven and fifteen years old.
    We sold more than five thousand tickets for the festival in Galway.
    I installed solar panels on about seventy roofs last summer.
    The architect, Mr. Hernandez, changed the floor plan three times.
    I know how to lay tiles, mix mortar and plaster a wall.
    I was promoted to shift leader after only seven months.
    My strengths are patience, accuracy and a good memory for faces.
    I would like to earn about fifty two thousand euros a year.
    I can start on the first of March, or two weeks earlier if you need me.
    The software crashed during the demonstration, and I had to improvise.
    I translated contracts from German into English for a law firm in Vienna.
    We use a kanban board, and we meet every morning at a quarter past nine.
    I learned to sharpen knives from a butcher named Giovanni.
    I pruned apple trees and harvested grapes in the south of France.
    The tractor broke down, so we finished the field by hand.
    I assisted the surgeon during more than a hundred operations.
    I changed the dressing of the wound twice a day.
    Our hotel has two hundred and ten rooms and a conference centre.
    A guest complained about the noise, and I offered her another room.
    I checked passports and boarding passes at gate seventeen.
    I have never missed a deadline in nine years.
    I supervised the loading of containers in the harbour of Antwerp.
    The temperature in the oven must not rise above two hundred and twenty degrees.
    I repaired laptops, replaced screens and recovered lost data.
    My manager, Deborah Okafor, recommended me for this position.
    I calculated the load on the beam and asked a second engineer to check it.
    In Toronto I worked for a company that produces medical devices.
    I can type about seventy words per minute.
    I cut hair for men, women and children, and I also do colouring.
    We planted three thousand trees along the motorway.
    I measured the voltage and found a short circuit in the junction box.
    I am certified to work with asbestos and other hazardous materials.
    The audit took four days, and we passed without any remarks.
    I organised a trade fair with ninety exhibitors from twelve countries.
    My biggest mistake was to ignore a warning light on the dashboard.
    I apologised to the customer and sent a replacement the same afternoon.
    I left my last job because the factory in Birmingham was closed.
    I look after two elderly women, and I cook and clean for them.
    I gave the injection, wrote it down and informed the doctor.
    We used concrete with steel reinforcement for the foundation.
    I have experience with accounting software such as SAP and QuickBooks.
    I analysed the survey of two thousand four hundred households.
    My thesis was about bacteria that break down plastic.
    I calibrated the microscope and prepared the samples.
    The laboratory in Uppsala tests drinking water for heavy metals.
    I designed a logo and a brochure for a bicycle shop in Copenhagen.
    The website had about thirty thousand visitors a month.
    I edited videos for a television station in Melbourne.
    I photographed weddings and sporting events for five years.
    I grew up on a farm, so I am used to getting up early.
    I can carry heavy boxes, and I am not afraid of heights.
    I climbed a scaffold of twenty five metres to fix the gutter.
    We painted the whole school in only nine days.
    My brother Kwame and I opened a small restaurant in Accra.
    I ordered vegetables, negotiated prices and checked every delivery.
    We threw away less food after I introduced a new menu.
    I served up to sixty guests in one evening without writing anything down.
    The bank asked me to check loan applications for small companies.
    I explained the mortgage to a couple who did not speak English well.
    I found a mistake of eleven thousand dollars in the balance sheet.
    I insured buildings against fire, flood and storm.
    The court in Edinburgh accepted our objection.
    I guarded a museum at night and walked about ten kilometres on every shift.
    I noticed smoke, pressed the alarm and led everyone outside.
    I trained as a paramedic in Johannesburg.
    We reached the accident in less than eight minutes.
    I kept calm and asked the driver whether he could move his legs.
    I put on gloves, a mask and safety glasses before I open the drum.
    I sorted letters by postal code and loaded them into the van.
    The train from Lyon was late, so I rearranged the meeting.
    I drove a tram in Helsinki for eleven years.
    I check the tyres, the brakes and the oil before every journey.
    My timetable changed every week, but that did not bother me.
    I changed the gearbox of a Volvo in under five hours.
    I diagnosed the fault with a scanner and replaced the sensor.
    The apprentice dropped a wrench into the engine, and we both laughed.
    I sewed uniforms for nurses and for the fire brigade.
    We produced four hundred shirts in a shift.
    I cleaned offices on the nineteenth floor of an insurance company.
    I know which chemicals must never be mixed.
    I took care of thirty six cows and about a hundred sheep.
    The veterinarian, Dr. Lindqvist, showed me how to vaccinate them.
    I organise my day with a list, and I begin with the hardest task.
    I asked my team for feedback, and they wanted shorter meetings.
    I convinced the board with three charts and one simple question.
    I handled complaints by email, by telephone and in the chat.
    I read every contract twice before I sign it.
    I learned Japanese because our main supplier is in Osaka.
    My previous employer was Maersk, and before that I was with Lufthansa.
    I tested an application for banks on twenty different telephones.
    We found the memory leak after two days of profiling.
    I reviewed the pull request and asked for a smaller function.
    I set up backups that run every night at half past two.
    The attack came through an old printer that no one had updated.
    I automated a report that had taken a colleague six hours every Friday.
    I trained a model that predicts which pumps will fail next month.
    I draw three dimensional models of furniture for a company in Bologna.
    I assembled kitchens and connected sinks and dishwashers.
    The ceiling was crooked, so I levelled it with a laser.
    I dug trenches and laid pipes for district heating.
    I control the quality of bearings with a micrometer.
    A tolerance of two hundredths of a millimetre is normal for us.
    I monitored the reactor and recorded the pressure every thirty minutes.
    I was elected to the works council in 2021.
    I volunteer at a food bank every second Saturday.
    I coach a football team of girls who are twelve years old.
    I raised eight thousand six hundred pounds for a hospice in Cardiff.
    I want this job because I enjoy working with my hands.
    In five years I would like to run my own workshop.
    I heard about your company from a former classmate, Agnieszka Nowak.
    I can work on weekends, but not on the second of October.
    My notice period is four weeks to the end of the month.
    I would need a work permit, and I have already applied for it.
    I prefer the early shift, from six in the morning until two in the afternoon.
    I have a driving licence, but I do not own a car.
    Could you tell me how large the team is?
    Thank you for your time, I am looking forward to your answer.
    """.strip().splitlines()
)

NAMED = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ORDINALS = {"first": 1, "second": 2, "third": 3, "nineteenth": 19, "1st": 1, "2nd": 2, "3rd": 3, "19th": 19}
VALUES = {"zero": 0, **{name: n for n, name in enumerate(NAMED, 1)}, **{name: 10 * n for n, name in enumerate(TENS, 2)}}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
SAME = {
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "%": "percent",
    "okay": "ok",
    "licence": "license",
    "centre": "center",
    "metres": "meters",
    "millimetre": "millimeter",
    "kilometres": "kilometers",
    "tonnes": "tons",
    "tyres": "tires",
    "colouring": "coloring",
    "analysed": "analyzed",
    "organised": "organized",
    "organise": "organize",
    "harbour": "harbor",
    "apologised": "apologized",
    "levelled": "leveled",
    "per cent": "percent",
    "hundredths": "hundredths",
}


def words_of(text: str) -> list[str]:
    """The words of a text in one spelling: no marks, numbers as digits, American letters."""
    plain = text.lower().replace("’", "'").replace("-", " ").replace("%", " percent ")
    for sign, name in (("$", "dollars"), ("€", "euros"), ("£", "pounds")):
        plain = re.sub(rf"\{sign} ?([\d,.]*\d(?: (?:thousand|million))?)", rf"\1 {name}", plain)
    plain = re.sub(r"(\d)\.(\d) million", r"\g<1>\g<2>00000", plain)
    plain = re.sub(r"(?<=\d),(?=\d)", "", plain)
    words = "".join(sign if sign.isalnum() or sign == "'" else " " for sign in plain).split()
    whole = [
        word for word, following in zip(words, [*words[1:], ""], strict=True) if (word, following) != ("a", "hundred")
    ]
    return [SAME.get(word, word) for word in _with_digits(whole)]


def _with_digits(words: list[str]) -> list[str]:
    written: list[str] = []
    total, part, open_number = 0, 0, False
    for place, word in enumerate([*words, ""]):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word.isdigit() and not open_number and following in SCALES:
            part, open_number = int(word), True
        elif word in VALUES and not (open_number and part % 10 and VALUES[word] < 10):
            part, open_number = part + VALUES[word], True
        elif word in SCALES and (open_number or word == "hundred"):
            part, open_number = (part or 1) * SCALES[word], True
            if SCALES[word] > 100:
                total, part = total + part, 0
        elif word == "and" and open_number and following in VALUES and (part % 100 == 0 or not part):
            continue
        else:
            if open_number:
                written.append(str(total + part))
                total, part, open_number = 0, 0, False
            written.append(str(ORDINALS.get(word, word)))
    return written[:-1]
