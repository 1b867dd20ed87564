"""Hashes of other systems and their passwords, a line each: made by other programs than ours.

From the RFCs' and the authors' own test vectors, and from systems as they write them.
"""

from __future__ import annotations

# ruff: noqa: E501 - a hash is one word

# By family: the password and its hash.
VERIFIED: dict[str, list[tuple[str, str]]] = {
    "argon2": [
        (
            "password",
            "$argon2i$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$YMvo8AUoNtnKYGqeODruCjHdiEbl1pKL2MsYy9VgU/E",
        ),
        (
            "password",
            "$argon2id$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU",
        ),
        (
            "password",
            "$argon2id$v=19$m=7168,t=5,p=1$cmFuZG9tc2FsdGlzaGFyZA$5eTTjldT7exzqguiy5ZoS7Mga90/e2PNFv7H2LDADyI",
        ),
        (
            "password",
            "$argon2id$v=19$m=19456,t=2,p=1$cmFuZG9tc2FsdGlzaGFyZA$xtgJ7SEpEWQX/I82kiwKLdG3roRLIWMzqEVw619ohZ4",
        ),
        (
            "password",
            "$argon2i$v=19$m=19456,t=2,p=1$cmFuZG9tc2FsdGlzaGFyZA$jsXnqhd/bg7ave549/UDMgjF1mln66jISWU8bhi+Mjs",
        ),
        (
            "password",
            "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        ),
        (
            "password",
            "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA",
        ),
    ],
    "bcrypt": [
        ("password", "$2a$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFq"),
        ("password", "$2b$12$bIRGj4QPPoSUMWsJE.4Pk.T1qTpDWz7HhMnuiQhGzGinKPsx/HQdq"),
        ("password", "$2y$12$hXUrnqdq1RIIYZ2HPytIIe5lXdIvbhqrTvdPsSF7o.jFh817Z6lwm"),
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
        ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
    ],
    "scrypt": [
        (
            "password",
            "$scrypt$ln=16,r=8,p=1$cmFuZG9tc2FsdGlzaGFyZA$Rh+NnJNo1I6nRwaNqbDm6kmADswD1+7FTKZ7Ln9D8nQ",
        ),
        (
            "password",
            "$7$ln=16,r=8,p=1$cmFuZG9tc2FsdGlzaGFyZA$Rh+NnJNo1I6nRwaNqbDm6kmADswD1+7FTKZ7Ln9D8nQ",
        ),
        (
            "pleaseletmein",
            "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw",
        ),
        (
            "password",
            "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA",
        ),
    ],
    "pbkdf2": [
        ("password", "$pbkdf2$12$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1.l3SVDpk"),
        (
            "password",
            "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i.qJLI7A8nDjPLnolCWarQY",
        ),
        (
            "password",
            "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i+qJLI7A8nDjPLnolCWarQY",
        ),
        (
            "password",
            "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA==$OFvEcLOIPFd/oq8egf10i+qJLI7A8nDjPLnolCWarQY=",
        ),
        (
            "password",
            "$pbkdf2-sha512$12$cmFuZG9tc2FsdGlzaGFyZA$e297piXvkpYxoYQAWD9zn1aKXCo3XmR91Xn9/WEGsHXU/7xaQzCV9upu4T5Jntq6AiZ6YX0diXnY7Ju5TEfUMA",
        ),
        ("password", "$pbkdf2$27500$cmFuZG9tc2FsdGlzaGFyZA$bbYZibo/ygfyx6NLJ3uNa0B4r9g"),
        ("password", "$pbkdf2$27500$cmFuZG9tc2FsdGlzaGFyZA==$bbYZibo/ygfyx6NLJ3uNa0B4r9g="),
        (
            "password",
            "$pbkdf2-sha224$27500$cmFuZG9tc2FsdGlzaGFyZA$9VeEQp7az6whTyGhevlmc6pC5qVhCV8h/Tp8Ug",
        ),
        (
            "password",
            "$pbkdf2-sha224$27500$cmFuZG9tc2FsdGlzaGFyZA==$9VeEQp7az6whTyGhevlmc6pC5qVhCV8h/Tp8Ug==",
        ),
        (
            "password",
            "$pbkdf2-sha256$27500$cmFuZG9tc2FsdGlzaGFyZA$7zUtMCrtPsRHgIkm.gJNGX8DGRzkwdND7UgugqsdYiI",
        ),
        (
            "password",
            "$pbkdf2-sha256$27500$cmFuZG9tc2FsdGlzaGFyZA==$7zUtMCrtPsRHgIkm+gJNGX8DGRzkwdND7UgugqsdYiI=",
        ),
        (
            "password",
            "$pbkdf2-sha384$27500$cmFuZG9tc2FsdGlzaGFyZA$db4oKOpdKUXKW/vD8ICLELZluys255QzZ/eUzr8cN44UuW7VS9nLlD8ugsds0gkZ",
        ),
        (
            "password",
            "$pbkdf2-sha384$27500$cmFuZG9tc2FsdGlzaGFyZA==$db4oKOpdKUXKW/vD8ICLELZluys255QzZ/eUzr8cN44UuW7VS9nLlD8ugsds0gkZ",
        ),
        (
            "password",
            "$pbkdf2-sha512$27500$cmFuZG9tc2FsdGlzaGFyZA$hT83SVbq6PW91JXZ6lpOTK2czVWc.Zz6WaPmhGQkYxxFKeJ0/JqmXwPOGJmbjQt1nydeW9uLWd1pmERhhQ.6mg",
        ),
        (
            "password",
            "$pbkdf2-sha512$27500$cmFuZG9tc2FsdGlzaGFyZA==$hT83SVbq6PW91JXZ6lpOTK2czVWc+Zz6WaPmhGQkYxxFKeJ0/JqmXwPOGJmbjQt1nydeW9uLWd1pmERhhQ+6mg==",
        ),
        (
            "password",
            "$pbkdf2-sha256$27500$cmFuZG9tc2FsdGlzaGFyZA$7zUtMCrtPsRHgIkm.gJNGX8DGRzkwdND7UgugqsdYiIsMzJqcqsnSlM1C/tRxO4xbMQ/w9TKZAPqJga/NCvEiQ",
        ),
        ("password", "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y"),
        ("password", "$pbkdf2$2$c2FsdA$6mwBTcctb4zNHtkqzh1B8NjeiVc"),
        ("password", "$pbkdf2$4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE"),
        (
            "passwordPASSWORDpassword",
            "$pbkdf2$4096$c2FsdFNBTFRzYWx0U0FMVHNhbHRTQUxUc2FsdFNBTFRzYWx0$PS7sT+QchJuAyNg2YsDkSospGpZM8vBwOA",
        ),
        (
            "Password",
            "$pbkdf2-sha256$80000$TmFDbA$TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ",
        ),
    ],
    "md5-crypt": [
        ("password", "$1$kJ4QkJaQ$3EbD/pJddrq5HW3mpZ4KZ1"),
        ("U*U*U*U*", "$1$dXc3I7Rw$ctlgjDdWJLMT.qwHsWhXR1"),
    ],
    "md5": [
        ("password", "5f4dcc3b5aa765d61d8327deb882cf99"),
        ("Test1000!", "$md5salted-suffix$c2FsdA==$R58+SD/95ORa9VZ9BPS5FA=="),
        ("Test1000!", "$md5salted-prefix$c2FsdA==$0M2MYNUmNumHqqQ+kmuTUQ=="),
    ],
    "sha-crypt": [
        (
            "Hello world!",
            "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
        ),
        (
            "Hello world!",
            "$6$rounds=5000$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
        ),
        (
            "Hello world!",
            "$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
        ),
        (
            "This is just a test",
            "$6$rounds=5000$toolongsaltstrin$lQ8jolhgVRVhY4b5pZKaysCLi0QBxGoNeKQzQ3glMhwllF7oGDZxUhx1yxdYcz/e1JSbq3y6JMxxl8audkUEm0",
        ),
        (
            "a very much longer text to encrypt.  This one even stretches over morethan one line.",
            "$6$rounds=1400$anotherlongsalts$POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1",
        ),
        (
            "we have a short salt string but not a short password",
            "$6$rounds=77777$short$WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0",
        ),
        (
            "a short string",
            "$6$rounds=123456$asaltof16chars..$BtCwjqMJGx5hrJhZywWvt0RLE8uZ4oPwcelCjmw2kSYu.Ec6ycULevoBK25fs2xXgMNrCzIMVcgEJAstJeonj1",
        ),
        (
            "the minimum number is still observed",
            "$6$rounds=1000$roundstoolow$kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.",
        ),
        ("Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
        ("Hello world!", "$5$rounds=5000$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
        (
            "Hello world!",
            "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA",
        ),
        (
            "This is just a test",
            "$5$rounds=5000$toolongsaltstrin$Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5",
        ),
        (
            "a very much longer text to encrypt.  This one even stretches over morethan one line.",
            "$5$rounds=1400$anotherlongsalts$Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1",
        ),
        (
            "we have a short salt string but not a short password",
            "$5$rounds=77777$short$JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/",
        ),
        (
            "a short string",
            "$5$rounds=123456$asaltof16chars..$gP3VQ/6X7UUEW3HkBn2w1/Ptq2jxPyzV/cZKmF/wJvD",
        ),
        (
            "the minimum number is still observed",
            "$5$rounds=1000$roundstoolow$yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC",
        ),
        (
            "password",
            "$6$rounds=5000$salt$IxDD3jeSOb5eB1CX5LBsqZFVkJdido3OUILO5Ifz5iwMuTS4XMS130MTSuDDl3aCI6WouIL9AjRbLCelDCy.g.",
        ),
        (
            "foobar",
            "$6$rounds=10000$n34PoBLMgFrQVl4R$7.cb7CLz8wagvy7HkLZ8dcil04pgps4hbri2LxtxwEUvf82JeV07F65sPWlHuwPBoVO6q49Az1vHmyvfmxw6Z/",
        ),
    ],
    "phpass": [
        ("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
        ("test1", "$H$9aaaaaSXBjgypwqm.JsMssPLiS8YQ00"),
        ("123456", "$H$9PE8jEklgZhgLmZl5.HYJAzfGCQtzi1"),
        ("123456", "$H$9pdx7dbOW3Nnt32sikrjAxYFjX8XoK1"),
        ("thisisalongertestPW", "$P$912345678LIjjb6PhecupozNBmDndU0"),
        ("JohnRipper", "$P$612345678si5M0DDyPpmRCmcltU/YW/"),
        ("JohnRipper", "$H$712345678WhEyvy1YWzT4647jzeOmo0"),
        ("JohnRipper", "$P$B12345678L6Lpt4BxNotVIMILOa9u81"),
        ("", "$P$7JaFQsPzJSuenezefD/3jHgt5hVfNH0"),
        ("compL3X!", "$P$FiS0N5L672xzQx1rt1vgdJQRYKnQM9/"),
    ],
    "drupal7": [
        ("password", "$S$ErandomsaOpYrAZqwxGynirQbWYCb3ejW4BwGH81LJcOzbzeVd02"),
        ("test1234", "$S$ECiTwp95d.CM.PorExdDeWcec0F1SeaEsf3Yon9RUcrhQy4Q7XX1"),
        ("msuHVPek37GmAhTMXTQC", "$S$EvuUkmwMTwIJFXf2t2jFRD4kI5.4s.nVIMqq7cpGIRDdw8N6X.dF"),
    ],
    "directories": [
        ("password", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="),
        ("secret", "{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3"),
        ("correct horse", "{SSHA256}8oF8uysVvQsePEFkDDCrDaTKbx33fswVsfIsIprVjFiF0JrTWosxhg=="),
        (
            "correct horse",
            "{SSHA512}ep9Icv1U0G6oYR6Hf89SRug0pOsPKMKL17i8u5q1c+sONE5R/0pjN0zclZs97p48+LjhN1QDWmktbhBpEvMFd8D4/98bg7BW",
        ),
        ("secret", "{MD5}Xr4ilOzQ4PCOq3aQ0qbuaQ=="),
        ("secret", "{SMD5}VAfQ6nCkaw9o3u+x706wnXNhbHRzYWx0"),
        ("secret", "{SHA384}WKd1ukESvjAFrkQHznV9iP2nHUBJe7gCbsrFTU4//HIyzo3jq1rLMK45dg/ufFPt"),
        ("password", "{SHA256}XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg="),
    ],
    "wrapped": [
        (
            "Hello world!",
            "{CRYPT}$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
        ),
        ("Hello world!", "{crypt}$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
        ("secret", "{ssha}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3"),
        ("password", "{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG"),
        ("password", "{BLF-CRYPT}$2y$12$hXUrnqdq1RIIYZ2HPytIIe5lXdIvbhqrTvdPsSF7o.jFh817Z6lwm"),
        (
            "password",
            "{ARGON2}$argon2id$v=19$m=7168,t=5,p=1$cmFuZG9tc2FsdGlzaGFyZA$5eTTjldT7exzqguiy5ZoS7Mga90/e2PNFv7H2LDADyI",
        ),
        (
            "secret",
            "{PBKDF2-SHA512}10000$/oQ4xZi382mk7kvCd3ZdkA$2wqjpuyV2l0U/a1QwoQPOtlQL.UcJGNACj1O24balruqQb/NgPW6OCvvrrJP8.SzA3/5iYvLnwWPzeX8IK/bEQ",
        ),
        (
            "secret",
            "{pbkdf2-sha256}10000$jq40ImWtmpTE.aYDYV1GfQ$mpiL4ui02ACmYOAnCjp/MI1gQk50xLbZ54RZneU0fCg",
        ),
        ("secret", "{PBKDF2}10000$QJTEclnXgh9Cz3ChCWpdAg$9.s98jwFJM.NXJK9ca/oJ5AyoAQ"),
        ("secret", "{PBKDF2-SHA1}10000$QJTEclnXgh9Cz3ChCWpdAg$9.s98jwFJM.NXJK9ca/oJ5AyoAQ"),
        ("password", "{PLAIN-MD5}5f4dcc3b5aa765d61d8327deb882cf99"),
        ("password", "{MD5}$1$kJ4QkJaQ$3EbD/pJddrq5HW3mpZ4KZ1"),
        ("password", "{SHA-1}5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8"),
        ("password", "{SHA-256}XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg="),
        (
            "password",
            "{SHA-512}sQnzu7wkTrgkQZF+0G1hi5AI3Qmzvv0bXgc5THBqi7mAsdd4Xll27ASbRt9fEyavWi6m0QP9B8lThf+rDKy8hg==",
        ),
        (
            "password",
            "{sha256.hex}5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
        ),
        (
            "password",
            "{SHA512}b109f3bbbc244eb82441917ed06d618b9008dd09b3befd1b5e07394c706a8bb980b1d7785e5976ec049b46df5f1326af5a2ea6d103fd07c95385ffab0cacbc86",
        ),
        (
            "correct horse",
            "{SSHA512.b64}ep9Icv1U0G6oYR6Hf89SRug0pOsPKMKL17i8u5q1c+sONE5R/0pjN0zclZs97p48+LjhN1QDWmktbhBpEvMFd8D4/98bg7BW",
        ),
        (
            "correct horse",
            "{SSHA-512}ep9Icv1U0G6oYR6Hf89SRug0pOsPKMKL17i8u5q1c+sONE5R/0pjN0zclZs97p48+LjhN1QDWmktbhBpEvMFd8D4/98bg7BW",
        ),
        (
            "correct horse",
            "{SSHA256.HEX}f2817cbb2b15bd0b1e3c41640c30ab0da4ca6f1df77ecc15b1f22c229ad58c5885d09ad35a8b3186",
        ),
        ("password", "{PLAIN-MD5.b64}X03MO1qnZdYdgyfeuILPmQ=="),
    ],
    "django": [
        (
            "lètmein",
            "scrypt$16384$seasalt$8$5$ECMIUp+LMxMSK8xB/IVyba+KYGTI7FTnet025q/1f/vBAVnnP3hdYqJuRi+mJn6ji6ze3Fbb7JEFPKGpuEf5vw==",
        ),
        (
            "lètmein",
            "scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==",
        ),
        ("lètmein", "pbkdf2_sha256$260000$seasalt$YlZ2Vggtqdc61YjArZuoApoBh9JNGYoDRBUGu6tcJQo="),
        (
            "Parity-Pass-2026 ü",
            "argon2$argon2id$v=19$m=102400,t=2,p=8$YWJjZGVmZ2hpamtsbW5vcHFyc3R1dg$IgorAEoC45Hed6TrnrYvCyIvYcj3785+rmJayoEyW88",
        ),
        (
            "123456",
            "argon2$argon2id$v=19$m=102400,t=2,p=8$Z0FpRW02TmxIOEhoMk1ja0xTTE81SA$8JEJ6f9Ae5xV6x1IuLENmepKD6cR5pyLrKvqfB8aZog",
        ),
        ("correct horse", "pbkdf2_sha1$26000$zyPgS7K8F9g4$mDnIJd74X8qsm+/c6rXf2caCaGw="),
        (
            "correct horse",
            "bcrypt_sha256$$2b$10$6hb7zx7GhsV2q490ARc95uiU.2uAIuXgIYD4.DQaF..q./uEtQ3s6",
        ),
        ("correct horse", "bcrypt$$2b$10$dfI4Gei9yLLsWD9fP/NMVeP8/nhwCp04qXVT7cP9Q5MuJmVGoYWJS"),
    ],
    "yescrypt": [
        ("hello", "$y$j9T$p6OI0WN7.rSfZBOijjRdR.$xUOA2MTcB48ac.9Oc5fz8cxwLv1mMqabnn333iOzSA6"),
        (
            "WA7NERURoVlDegBUVyM1Kk",
            "$y$j9T$Qeof7nTZR1kT1cFwdlZqd0$B5.LdYzAcE8IwmEjeOUR9RwIwpalyyj/oxaiDqnryZ/",
        ),
    ],
    "sha1": [
        ("password", "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8"),
        ("password", "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8"),
    ],
    "werkzeug": [
        (
            "correct horse",
            "pbkdf2:sha256:26000$CQ2QlP7VKQvFwRad$aff285b4c10c014ba2af294e164fc23f748968ee3b1e829530f63d12e5cc8a33",
        ),
        (
            "correct horse",
            "pbkdf2:sha1:26000$VFWnqhvFAfef3GFT$1e2a8f86fbf5da9ad2cbba2f23c2f10135479105",
        ),
        (
            "correct horse",
            "pbkdf2:sha512:26000$y6EDQlKzJSe6aDY8$18c3f69e99a911af659ad46ad31bd5598a0c513590e48b73debc0010722f68425d9eab88c53ad98d51a9da6539cd589a8bdec63ae76c28b1dcbcefb74a4335ba",
        ),
        (
            "correct horse",
            "scrypt:16384:8:1$B7qrJglgOUrlBrY9$9d86dc6c7e06465d1a468ec899c646781ef08c935ec1752e7fb3a96b16df8e3e6e605b1db1c8a8e697afcb49425ca724a77693ad59f3fecdc642fd230fba996f",
        ),
    ],
}
