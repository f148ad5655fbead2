"""Certificates made on the spot: a CA of the test's own, and servers with good and bad ones."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates for names and addresses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        self.certificate = self._sign(self._key, self._name, days=1, is_ca=True)

    def trusted(self) -> ssl.SSLContext:
        """A client's context that trusts this authority."""
        context = ssl.create_default_context()
        context.load_verify_locations(cadata=self.certificate.public_bytes(serialization.Encoding.PEM).decode())
        return context

    def server(self, name: str, *, days: int = 1, self_signed: bool = False) -> ssl.SSLContext:
        """A server's context with a certificate for ``name``; negative days have run out."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._sign(key, subject, days=days, signer=key if self_signed else None, names=[name])
        path = self._folder / f"{name.replace(':', '_')}{days}{self_signed}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _sign(self, key, subject, *, days, is_ca=False, signer=None, names=()):
        now = datetime.now(UTC)
        ends = now + timedelta(days=days)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if signer else self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, ends) - timedelta(days=2))
            .not_valid_after(ends)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        if is_ca:
            usage = x509.KeyUsage(
                digital_signature=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=True,
                crl_sign=True,
                encipher_only=False,
                decipher_only=False,
            )
            builder = builder.add_extension(usage, critical=True)
        else:
            issuer = (signer or self._key).public_key()
            builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False)
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general(name) for name in names]), critical=False
            )
        return builder.sign(signer or self._key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
