#!/usr/bin/env python3
"""Verifies files of evidence: python3 verify.py public-key.pem file... It needs openssl 3.0. It ends with 0 if it accepts all."""
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

FIELDS = ["seq", "stream", "version", "type", "at", "body", "body_hash", "prev", "hash", "key", "signature"]
FORMATS = ["signalbox evidence 1", "signalbox export 1"]
PRUNED, ROTATED = ("installation/pruned", "pruned"), ("installation", "key-changed")


def need(condition, problem):
    if not condition:
        raise ValueError(problem)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest(content):
    return base64url(hashlib.sha256(content).digest())


def is_signed(der, text, signature):
    """Whether the owner of this key signed the text. A signature has exactly one spelling."""
    raw = base64.urlsafe_b64decode(signature + "==")
    need(base64url(raw) == signature, "a signature is malformed")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [("key", der), ("text", text.encode()), ("signature", raw)]:
            pathlib.Path(folder, name).write_bytes(content)
        command = "openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey key -sigfile signature -in text"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def key_eras(changes, trusted):
    """Follows the changes of the key, from the given key in both directions. Returns when each key began."""
    eras = []
    for row in changes:
        body = json.loads(row["body"])
        old, new = (base64.b64decode(body[name]) for name in ("oldPublicKey", "newPublicKey"))
        need([digest(old)[:16], digest(new)[:16]] == [row["key"], body["key"]], "a change of the key names other keys")
        need(not eras or eras[-1][2] == row["key"], "a change of the key is missing")
        proof = f"signalbox key-changed\n{row['prev']}\n{row['key']}\n{body['key']}"
        need(is_signed(old, row["hash"], row["signature"]), "the old key did not sign the change of the key")
        need(is_signed(new, proof, body["proof"]), "the new key did not sign the change of the key")
        eras.append((row["seq"], row["key"], body["key"], old, new))
    for _, old_id, new_id, _, new in eras:
        trusted.update({new_id: new} if old_id in trusted else {})
    for _, old_id, new_id, old, _ in reversed(eras):
        trusted.update({old_id: old} if new_id in trusted else {})
    return [(seq, old_id) for seq, old_id, *_ in eras], (eras[-1][2] if eras else None)


def check_row(row):
    need(list(row) == FIELDS, "an event has other fields")
    facts = [row[name] for name in ("seq", "stream", "version", "type", "at", "body_hash", "prev", "key")]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    need(digest(text.encode()) == row["hash"], f"event {row['seq']} was modified")
    need(row["body"] is None or digest(row["body"].encode()) == row["body_hash"], f"the body of event {row['seq']} was modified")


def check_evidence(header, rows):
    """The events of one change and of its presses are complete, and in the order of the log."""
    counts = {}
    for row in [row for row in rows if (row["stream"], row["type"]) != ROTATED]:
        need(row["body"] is not None, f"the body of event {row['seq']} is missing")
        counts[row["stream"]] = counts.get(row["stream"], 0) + 1
        need(row["version"] == counts[row["stream"]], f"an event of {row['stream']} is missing")
    need(counts == header["streams"] and header["subject"] in counts, "events are missing, or of another subject")
    own = "press/" + header["subject"].partition("/")[2] + "/"
    need(all(name == header["subject"] or name.startswith(own) for name in counts), "events of another subject")
    return check_plans(rows)


def check_plans(rows):
    """Each approval is of a plan of the change. Returns who narrowed it, and how."""
    plans, notes = {}, []
    for kind, body in [(row["type"], json.loads(row["body"])) for row in rows if row["stream"].startswith("change/")]:
        need(kind != "approved" or body["digest"] in plans, "an approval is of another plan")
        if kind == "narrowed":
            need(body["wider"] == list(plans)[-1], "a narrower plan replaces another one")
            had, has = [{**plan["body"], **plan.get("timing", {})} for plan in (plans[body["wider"]], body["plan"])]
            less = [f"{name} {had.get(name)} -> {has[name]}" for name in has if has[name] != had.get(name)]
            notes.append(f"narrowed by {body['by']}: {', '.join(less)}")
        plans.update({body["digest"]: body["plan"]} if kind in ("drafted", "narrowed") else {})
    return notes


def check_export(header, rows):
    """All events are there. A body may be missing only where a later event says that it was pruned."""
    lists = [json.loads(row["body"])["streams"] for row in rows if (row["stream"], row["type"]) == PRUNED]
    pruned = {each["stream"]: each["upTo"] for streams in lists for each in streams}
    for index, row in enumerate(rows):
        need(row["seq"] == header["from"] + index, f"event {header['from'] + index} is missing")
        known = row["body"] is not None or row["version"] <= pruned.get(row["stream"], 0)
        need(known, f"the body of event {row['seq']} is missing")
    need(rows and rows[-1]["seq"] == header["head"]["seq"], "the last events are missing")


def verify(data, given):
    lines = data.decode().split("\n")
    need(len(lines) > 2 and lines.pop() == "", "the file is incomplete")
    signature = json.loads(lines.pop())["signature"]
    header, *rows = [json.loads(line) for line in lines]
    need(header["format"] in FORMATS, "the format is unknown")
    content = "".join(line + "\n" for line in lines)
    need(data == (content + json.dumps({"signature": signature}, separators=(",", ":")) + "\n").encode(),
         "the last line was modified")
    for row in rows:
        check_row(row)
    trusted = {digest(given)[:16]: given}
    eras, last = key_eras([row for row in rows if (row["stream"], row["type"]) == ROTATED], trusted)
    need(header["key"] in trusted and header["key"] == (last or header["key"]), "another key signed the file")
    need(is_signed(trusted[header["key"]], f"{header['format']}\n{digest(content.encode())}", signature),
         "the file was modified, or another key signed it")
    for before, row in zip([None, *rows], rows):
        key = next((old for seq, old in eras if row["seq"] <= seq), header["key"])
        need(row["key"] == key and key in trusted, f"another key signed event {row['seq']}")
        need(before is None or before["seq"] < row["seq"], "the events are in another order")
        follows = before is None or before["seq"] + 1 != row["seq"] or before["hash"] == row["prev"]
        need(follows, f"event {row['seq']} does not follow the one before")
        # In an export, one signature covers every event before it.
        if header["format"] == FORMATS[0] or row is rows[-1]:
            need(is_signed(trusted[key], row["hash"], row["signature"]), f"event {row['seq']} has no valid signature")
    head, last = header["head"], rows[-1]
    need(last["seq"] < head["seq"] or (last["seq"], last["hash"]) == (head["seq"], head["hash"]), "other end")
    notes = (check_evidence if header["format"] == FORMATS[0] else check_export)(header, rows)
    return "; ".join([f"accepted, {len(rows)} events", *(notes or [])])


def main(pem, *names):
    failed = False
    for name in names:
        try:
            need("PUBLIC KEY" in (text := pathlib.Path(pem).read_text()), f"{pem} is no public key in PEM")
            given = base64.b64decode("".join(line for line in text.split("\n") if "-----" not in line))
            print(f"{name}: {verify(pathlib.Path(name).read_bytes(), given)}")
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError) as error:
            failed = True
            print(f"{name}: REJECTED, {error}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
