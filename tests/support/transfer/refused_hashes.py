"""Hashes of other systems that are not accepted, and a part of the reason."""

from __future__ import annotations

# ruff: noqa: E501 - a hash is one word

# Of `foreign_hashes.VERIFIED`, those that the default settings refuse, and the setting that says so.
TOO_WEAK = {
    "$argon2i$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$YMvo8AUoNtnKYGqeODruCjHdiEbl1pKL2MsYy9VgU/E": "imported_argon2_min_kib",
    "$argon2id$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU": "imported_argon2_min_kib",
    "$pbkdf2$12$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1.l3SVDpk": "imported_pbkdf2_min_rounds",
    "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i.qJLI7A8nDjPLnolCWarQY": "imported_pbkdf2_min_rounds",
    "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i+qJLI7A8nDjPLnolCWarQY": "imported_pbkdf2_min_rounds",
    "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA==$OFvEcLOIPFd/oq8egf10i+qJLI7A8nDjPLnolCWarQY=": "imported_pbkdf2_min_rounds",
    "$pbkdf2-sha512$12$cmFuZG9tc2FsdGlzaGFyZA$e297piXvkpYxoYQAWD9zn1aKXCo3XmR91Xn9/WEGsHXU/7xaQzCV9upu4T5Jntq6AiZ6YX0diXnY7Ju5TEfUMA": "imported_pbkdf2_min_rounds",
    "$2b$09$Z6hUTEEeoJXN5/AmSm/4.eZ75RYgFVriQM9LPhNEC7kbAbS/VAaJ2": "imported_bcrypt_min_cost",
    "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW": "imported_bcrypt_min_cost",
    "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK": "imported_bcrypt_min_cost",
    "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a": "imported_bcrypt_min_cost",
    "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA": "imported_scrypt_min_cost",
    "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y": "imported_pbkdf2_min_rounds",
    "$pbkdf2$2$c2FsdA$6mwBTcctb4zNHtkqzh1B8NjeiVc": "imported_pbkdf2_min_rounds",
}

# What is refused whatever the settings, with a piece of the reason.
REFUSED = {
    "$argon2d$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$CB0Du96aj3fQVcVSqb0LIA6Z6fpStjzjVkaC3RlpK9A": "argon2d is not for passwords",
    "$argon2id$v=16$m=8192,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU": "argon2 is written",
    "$argon2id$v=19$t=3,m=8192,p=1$cmFuZG9tc2FsdGlzaGFyZA$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU": "argon2 is written",
    "$argon2id$v=19$m=8192,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA==$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU=": "argon2 is written",
    "$2$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFq": "first version",
    "$2x$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFq": "faulty bcrypt",
    "$6$salt": "sha-crypt is written",
    "$6$rounds=abc$salt$hash": "sha-crypt is written",
    "$6$rounds=10000$some$salt$hashvaluehere": "sha-crypt is written",
    "$P$112345678si5M0DDyPpmRCmcltU/YW/": "rounds must be",
    "$P$Z12345678si5M0DDyPpmRCmcltU/YW/": "rounds must be",
    "$S$E123456": "Drupal's form",
    "$S$@CDgn4Og5K1g.zVRmF132EW0HfJZ5oaTBsw/roww5SWjwTEfZxqU": "Drupal's form",
    "$S$ZZiTwp95d.CM.PorExdDeWcec0F1SeaEsf3Yon9RUcrhQy4Q7XX1": "rounds must be",
    "pbkdf2_sha256$260000$salt$hash": "must have 32 bytes",
    "{SSHA}…": "directories are written",
    "$sha1$…": "SHA-1 crypt is not supported",
    "$wp$2y$10$lzmRoTCfvVmfTJVLTNzXgOPLIa3p4Vbn4nLMnV8nDV0D4hSHCHgr2": "WordPress 6.8",
    "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=ou9tdYTGyYm8kuR6Dt0Bp0kDuAYoXrK16mbZO4yGwAn3oLspjnN0_c41v8xZnO1n14J3MjKj1b2g6AUCAlFwMw==$C0sHCg9ek77hsg==$ZGlmZmVyZW50": "Firebase",
    "$firescrypt$ln=14,r=8,p=1$C0sHCg9ek77hsg==$ZGlmZmVyZW50": "Firebase",
    "$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D": "scrypt is written",
    "{CRYPT}ab01FAX.bQRSU": "{CRYPT} and a hash such as",
    "{SHA512-CRPYT}$6$saltstring$svn8": "{SHA512-CRYPT} and a hash such as",
    "{PBKDF2_SHA256}AAAIADkaspY": "{PBKDF2-SHA256}rounds$salt$hash",
    "{pbkdf2}5d923b44a6d129f3ddf3e3c8d29412723dcbde72": "{PBKDF2}rounds$salt$hash",
    "{scrypt}$e0801$8bWJaSu2IKSn9Z9kM$OAOec05": "$scrypt$ln=…,r=…,p=…$salt$hash, without a wrapper",
    "{SHA-512}{salt}ab01": "{SHA512}base64",
    "{SSHA256.uuid}ab01": "{SSHA256}base64",
    "{noop}hunter2": "plain text",
    "{CLEARTEXT}hunter2": "plain text",
    "{SASL}ada@EXAMPLE.COM": "by another system",
    "$2B$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFq": "begins with $2b$",
    "$p$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0": "begins with $P$",
    "$2a$12$aLYFkieuqJyeynvptPTxpfhSViui5WeAPuR2Xw1wui9CPHEaacmFq": "29th character, the last of the salt, has bits set that bcrypt ignores: replace it by e",
    "$2a$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFr": "altered or cut off",
    "correct horse battery staple": "a known format",
    "hunter2": "a known format",
    "d41d8cd98f00b204e9800998ecf8427": "a known format",
}
