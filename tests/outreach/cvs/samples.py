"""Generated CVs of many layouts, each with what is right about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """A CV's text, and the right answers. ``""`` for one that only a guess could give."""

    text: str
    name: str
    email: str
    phone: str


def _of(name: str, email: str, phone: str, text: str) -> Sample:
    return Sample(text.format(name=name, email=email, phone=phone).strip(), name, email, phone)


PLAIN = "{name}\n{email}\n{phone}\n\nExperience\n2019 - 2023 Nurse, City Hospital\n"
HEADED = (
    "CURRICULUM VITAE\n\n{name}\nSoftware Engineer\nEmail: {email} | Phone: {phone}\n\n"
    "Profile\nI build things since 2011.\n"
)
GERMAN = (
    "Lebenslauf\n\nPersönliche Daten\nName: {name}\nGeburtsdatum: 12.03.1988\nAnschrift: Hauptstraße 5, 10115 Berlin\n"
    "Telefon: {phone}\nE-Mail: {email}\n\nBerufserfahrung\n"
    "03/2015 - 07/2021 Kauffrau, Beispiel GmbH, info@beispiel.example\n"
)
GERMAN_TOP = (
    "{name}\nMusterweg 12 · 80331 München · {phone} · {email}\n\nBerufserfahrung\n2012 – 2019 Krankenpflegerin\n"
)
SPANISH = (
    "HOJA DE VIDA\n\nDatos personales\nNombre completo: {name}\nCelular: {phone}\nCorreo: {email}\n"
    "Dirección: Calle Mayor 3, Madrid\n\nReferencias\nJuan Pérez, juan.perez@empresa.example, 600 111 222\n"
)
FRENCH = (
    "{name}\n12 rue de la Paix, 75002 Paris\nPortable : {phone}\n{email}\n\n"
    "Expérience\n2016 - 2020 Comptable chez Exemple SARL\n"
)
TABLE = (
    "Name {name}\nE-mail {email}\nMobile {phone}\nNationality British\n\nEducation\n2008 - 2011 University of Leeds\n"
)
SPLIT = "Curriculum Vitae\nVorname: {first}\nNachname: {last}\nHandy: {phone}\nMail: {email}\n"
ONE_LINE = "{name} | Data Analyst | {email} | {phone}\n\nSummary\nTen years of numbers, 2012 - 2022.\n"
REFEREE = PLAIN + "\nReferences\nDr. Karl Weber, Head of Nursing\nkarl.weber@hospital.example\n+49 30 9988776\n"
WORK = "{name}\nPrivate: {email}\nWork: sales@shop.example\nPhone: {phone}\n\nExperience\n2010 - 2020 Sales\n"
BOTTOM = "Project Manager\n\nExperience\n2011 - 2018 Lead, Example Ltd\n\nContact\n{name}\n{email}\nTel. {phone}\n"


def _split(first: str, last: str, email: str, phone: str) -> Sample:
    text = SPLIT.format(first=first, last=last, email=email, phone=phone)
    return Sample(text, f"{first} {last}", email, phone)


SAMPLES = [
    _of("Ada Lovelace", "ada.lovelace@mail.example", "+44 20 7946 0958", PLAIN),
    _of("Grace Hopper", "ghopper@mail.example", "(555) 010-9999", PLAIN),
    _of("Jürgen Müller", "j.mueller@post.example", "0171 2345678", PLAIN),
    _of("Søren Kjær", "soren.k@post.example", "+45 32 12 34 56", PLAIN),
    _of("Anna Schmidt", "anna.schmidt@post.example", "+49 (0)30 1234567", HEADED),
    _of("María José García", "mjgarcia@correo.example", "+34 612 345 678", HEADED),
    _of("Tom O’Brien", "tom.obrien@mail.example", "+353 85 012 3456", HEADED),
    _of("Jean-Luc Moreau", "jl.moreau@courriel.example", "06 12 34 56 78", HEADED),
    _of("Björn Größe", "bjoern.groesse@post.example", "+49 171 5550123", GERMAN),
    _of("Sabine von der Heide", "s.vonderheide@post.example", "030/12345678", GERMAN),
    _of("Ayşe Yılmaz", "ayse.yilmaz@post.example", "0151-23456789", GERMAN),
    _of("Käthe Weiß", "kaethe@post.example", "089 123456-78", GERMAN),
    _of("Uwe Krämer", "kraemer.uwe@post.example", "0049 171 9876543", GERMAN_TOP),
    _of("Lena Groß", "lena.gross@post.example", "+49 160 1112223", GERMAN_TOP),
    _of("Zoë Brückner", "zoe.brueckner@post.example", "0176 55501234", GERMAN_TOP),
    _of("Lucía Fernández Ruiz", "lucia.fernandez@correo.example", "612 34 56 78", SPANISH),
    _of("Iñigo Núñez", "inigo.nunez@correo.example", "+34 93 123 45 67", SPANISH),
    _of("Carlos de la Cruz", "carlosdelacruz@correo.example", "+52 55 1234 5678", SPANISH),
    _of("Benoît Lefèvre", "benoit.lefevre@courriel.example", "06 98 76 54 32", FRENCH),
    _of("Zoé Dupont", "zoe.dupont@courriel.example", "+33 6 12 34 56 78", FRENCH),
    _of("Éloïse Gauthier", "e.gauthier@courriel.example", "07.61.23.45.67", FRENCH),
    _of("Priya Patel", "priya.patel@mail.example", "07700 900123", TABLE),
    _of("Kwame Mensah", "kmensah@mail.example", "+233 24 123 4567", TABLE),
    _split("Ingeborg", "Bachmann", "i.bachmann@post.example", "0664 1234567"),
    _split("Mehmet Can", "Öztürk", "oeztuerk@post.example", "+49 152 01234567"),
    _of("Rosa Parks", "rosa.parks@mail.example", "+1 555 010 1234", ONE_LINE),
    _of("Wei Zhang", "wei.zhang@mail.example", "+86 138 0013 8000", ONE_LINE),
    _of("Nadia Haddad", "nadia.haddad@mail.example", "+961 3 123 456", REFEREE),
    _of("Olga Petrova", "olga.p@mail.example", "+7 912 345-67-89", REFEREE),
    _of("Peter Jansen", "peter.jansen@mail.example", "+31 6 12345678", WORK),
    _of("Chloé Martin", "chloe.martin@courriel.example", "01 23 45 67 89", WORK),
    _of("Emma Johansson", "emma.johansson@mail.example", "+46 70 123 45 67", BOTTOM),
    _of("João da Silva", "joao.silva@correio.example", "+55 11 91234-5678", HEADED),
    _of("MÜLLER, Anna-Lena", "al.mueller@post.example", "0170/1234567", PLAIN),
    _of("LUCAS BERNARD", "lucas.bernard@courriel.example", "+33 7 61 23 45 67", FRENCH),
    _of("Dr. Hannah Vogel", "hannah.vogel@post.example", "+49 69 1234567", GERMAN_TOP),
]
RIGHT_NAMES = {
    "MÜLLER, Anna-Lena": "Anna-Lena Müller",
    "LUCAS BERNARD": "Lucas Bernard",
    "Dr. Hannah Vogel": "Hannah Vogel",
}
"""Where the right name is not what is written."""
UNSURE = [
    Sample("Team profile\nada@mail.example\nbob@mail.example\n", "", "", ""),
    Sample("Lebenslauf\nBerlin, Hamburg\n2011 - 2018 Fahrer\n2018 - 2022 Fahrer\n", "", "", ""),
    Sample("New York\nSan Francisco\n\nReferences\nAnn Smith, ann.smith@mail.example, +1 555 010 4444\n", "", "", ""),
    Sample("One Two\nThree Four\n555 010 1111\n555 010 2222\n", "", "", ""),
]
"""CVs that leave more than one answer, or none."""
