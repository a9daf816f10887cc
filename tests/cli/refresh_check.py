#!/usr/bin/env python3
"""`smplan catalog refresh` against servers on this machine that are slow, broken, hostile or gone, and what the other
commands make of its cache.

Usage: refresh_check.py SMPLAN_BINARY
"""

import contextlib
import copy
import gzip
import http.server
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BINARY = ""
SAMPLES = pathlib.Path(__file__).parents[1] / "data/aws"
NOW = "2026-12-01T12:00:00Z"
OFFERS = "/offers/v1.0/aws/AmazonSageMaker"
PLANS = "/savingsPlan/v1.0/aws/AWSMachineLearningSavingsPlans"
INDEX, PLAN_INDEX, ADVISOR = (
    f"{OFFERS}/current/region_index.json",
    f"{PLANS}/current/region_index.json",
    "/spot-advisor-data.json",
)
WEST = f"{OFFERS}/20260924/us-west-2/index.json"
REGIONS = ("us-east-1", "us-west-2", "ap-northeast-1")


def sample(name):
    return json.loads((SAMPLES / name).read_text())


def offer(region, price=None):
    """The sample's offer of one region; `price` is put in the place of every hourly price."""
    whole = sample("AmazonSageMaker-index.json")
    skus = [sku for sku, product in whole["products"].items() if product["attributes"]["regionCode"] == region]
    whole["products"] = {sku: whole["products"][sku] for sku in skus}
    whole["terms"]["OnDemand"] = {sku: term for sku, term in whole["terms"]["OnDemand"].items() if sku in skus}
    for term in whole["terms"]["OnDemand"].values() if price else ():
        for offered in term.values():
            for dimension in offered["priceDimensions"].values():
                dimension["pricePerUnit"] = {"USD": price}
    return json.dumps(whole).encode()


def savings_plans():
    def plan(years, price):
        return {
            "sku": f"P{years}",
            "leaseContractLength": {"duration": years, "unit": "year"},
            "rates": [
                {
                    "discountedSku": "SYNTHETIC0000001",
                    "discountedUsageType": "USW2-Train:ml.p5.48xlarge",
                    "unit": "Hrs",
                    "discountedRate": {"price": price, "currency": "USD"},
                }
            ],
        }

    return json.dumps(
        {
            "offerCode": "AWSMachineLearningSavingsPlans",
            "publicationDate": "2026-10-01T00:00:00Z",
            "terms": {"savingsPlan": [plan(1, "45.5"), plan(3, "30")]},
        }
    ).encode()


def answer(request, body=b"", status=200, length=None, **headers):
    """Headers are given as they are spelled, with `_` for `-`; another length than the body's breaks the connection."""
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.send_header("Content-Length", str(len(body) if length is None else length))
    request.end_headers()
    request.wfile.write(body)
    if length is not None and length != len(body):
        request.close_connection = True


def served(body, etag, upto=None):
    """A file as S3 serves it: by version, whole or in part. With `upto` every answer breaks off behind so many bytes."""

    def respond(request):
        if request.headers.get("If-None-Match") == etag:
            return answer(request, status=304, ETag=etag)
        span = request.headers.get("Range")
        if span and request.headers.get("If-Range") == etag:
            begin = int(span.removeprefix("bytes=").removesuffix("-"))
            rest = body[begin:]
            return answer(
                request,
                rest[:upto],
                206,
                len(rest),
                ETag=etag,
                Content_Range=f"bytes {begin}-{len(body) - 1}/{len(body)}",
            )
        return answer(request, body[:upto], 200, len(body), ETag=etag)

    return respond


def status(code, **headers):
    return lambda request: answer(request, b"<html>no</html>", code, **headers)


def redirect(target):
    return lambda request: answer(request, b"", 302, Location=target)


class Site:
    """A server on this machine. A path has a list of answers, the last of which stays."""

    def __init__(self, context=None):
        self.routes, self.asked, site = {}, [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.asked.append((self.path, dict(self.headers)))
                answers = site.routes.get(self.path, [status(404)])
                with contextlib.suppress(ConnectionError, ssl.SSLError):
                    (answers.pop(0) if len(answers) > 1 else answers[0])(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __setitem__(self, path, answers):
        self.routes[path] = answers if isinstance(answers, list) else [answers]

    def requests(self, path):
        return [headers for asked, headers in self.asked if asked == path]


def publish(site):
    """All that AWS publishes, for three regions."""
    offers = {
        region: {"regionCode": region, "currentVersionUrl": f"{OFFERS}/20260924/{region}/index.json"}
        for region in REGIONS
    }
    site[INDEX] = served(json.dumps({"formatVersion": "v1.0", "regions": offers}).encode(), '"i"')
    plans = [{"regionCode": "us-west-2", "versionUrl": f"{PLANS}/20261001/us-west-2/index.json"}]
    site[PLAN_INDEX] = served(json.dumps({"regions": plans}).encode(), '"pi"')
    for region in REGIONS:
        site[f"{OFFERS}/20260924/{region}/index.json"] = served(offer(region), f'"{region}"')
    site[f"{PLANS}/20261001/us-west-2/index.json"] = served(savings_plans(), '"p"')
    site[ADVISOR] = served(json.dumps(sample("spot-advisor-data.json")).encode(), '"a"')


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.environment = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "LC_ALL": "C",
            "SMPLAN_NOW": NOW,
            "SMPLAN_CACHE": str(self.cache),
        }
        self.site = Site()
        self.addCleanup(self.site.close)
        publish(self.site)

    def smplan(self, *arguments, **variables):
        return subprocess.run(
            [BINARY, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env={**self.environment, **variables},
        )

    def refresh(self, *arguments, what="offers", region="us-west-2", **variables):
        words = ["catalog", "refresh", "--mirror", self.site.url]
        words += ["--what", what] if what else []
        words += ["--region", region] if region else []
        return self.smplan(*words, *arguments, **variables)

    def refreshed(self, *arguments, **options):
        done = self.refresh(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, text, *arguments, **options):
        """Ends with 2 and a sentence, and leaves the overlay as it was."""
        before = self.overlay_bytes()
        done = self.refresh(*arguments, **options)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, text)
        self.assertEqual(self.overlay_bytes(), before)
        self.assertNotIn("\x1b", done.stderr)
        return done

    def overlay_bytes(self):
        path = self.cache / "prices.json"
        return path.read_bytes() if path.exists() else None

    def prices(self):
        return {
            (p["instance"], p["region"], p["market"]): p for p in json.loads(self.overlay_bytes()).get("prices", [])
        }

    def tree(self):
        return {path.name: path.read_bytes() for path in self.cache.rglob("*") if path.is_file()}

    def aws(self, script):
        """A program `aws` that notes its arguments, one a line, and then does what the script says."""
        path = self.bin / "aws"
        path.write_text(f'#!/bin/sh\n{{ printf "%s\\n" "$@"; echo; }} >>"{self.folder}/calls"\n{script}\n')
        path.chmod(0o755)


P5_WEST = ("ml.p5.48xlarge", "us-west-2", "on-demand")


class Downloads(Case):
    def test_all_sources_become_one_overlay_with_url_and_day(self):
        done = self.refreshed(what="offers,savings-plans,spot-advisor", region=",".join(REGIONS))
        self.assertRegex(done.stdout, r"offers\.us-east-1\.json +us-east-1 +new +2026-12-01")
        overlay = json.loads(self.overlay_bytes())
        self.assertEqual(overlay["refreshed"]["on"], "2026-12-01")
        prices = self.prices()
        self.assertEqual({key[1] for key in prices}, set(REGIONS))
        price = prices[P5_WEST]
        self.assertEqual(price["as_of"], "2026-09-24", "the day of the price list")
        self.assertIn(f"{self.site.url}{WEST}", price["source"])
        self.assertEqual(prices["ml.p5.48xlarge", "us-west-2", "savings-plan"]["usd_per_hour"], 45.5)
        for entry in [*prices.values(), *overlay["spot_interruptions"]]:
            self.assertIn(self.site.url, entry["source"])
            self.assertRegex(entry["as_of"], r"^20\d\d-\d\d-\d\d$")
        self.assertEqual(
            {e["as_of"] for e in overlay["spot_interruptions"]}, {"2026-12-01"}, "a file without a day of its own"
        )
        self.assertFalse([name for name in self.tree() if ".part" in name])

    def test_what_is_known_is_asked_for_by_its_version_and_not_sent_again(self):
        self.refreshed()
        overlay = self.prices()
        done = self.refreshed(SMPLAN_NOW="2026-12-05")
        self.assertEqual([h.get("If-None-Match") for h in self.site.requests(WEST)], [None, '"us-west-2"'])
        self.assertRegex(done.stdout, r"unchanged +2026-12-05")
        self.assertEqual(self.prices(), overlay)
        self.assertEqual(json.loads(self.overlay_bytes())["refreshed"]["on"], "2026-12-05")

    def test_a_version_by_its_date_alone(self):
        body, day = offer("us-west-2"), "Thu, 24 Sep 2026 23:59:00 GMT"

        def respond(request):
            same = request.headers.get("If-Modified-Since") == day
            answer(request, b"" if same else body, 304 if same else 200, Last_Modified=day)

        self.site[WEST] = respond
        self.refreshed()
        self.assertIn("unchanged", self.refreshed().stdout)

    def test_another_version_replaces_the_old_one(self):
        self.refreshed()
        self.site[WEST] = served(offer("us-west-2", "77.5"), '"other"')
        self.assertIn("1 facts change" if len(self.prices()) == 1 else "facts change", self.refreshed().stderr)
        self.assertEqual(self.prices()[P5_WEST]["usd_per_hour"], 77.5)

    def test_a_file_whose_facts_are_lost_is_fetched_anew(self):
        self.refreshed()
        for change in (
            lambda path: path.unlink(),
            lambda path: path.write_text("{"),
            lambda path: path.write_text(path.read_text().replace("download/1", "download/2")),
        ):
            change(self.cache / "downloads/offers.us-west-2.json.meta")
            self.assertRegex(self.refreshed().stdout, r"us-west-2 +new")
        (self.cache / "downloads/offers.us-west-2.json").write_bytes(offer("us-west-2")[:-9])
        self.assertRegex(self.refreshed().stdout, r"us-west-2 +new")

    def test_other_regions_of_earlier_calls_stay(self):
        self.refreshed(region="us-east-1")
        done = self.refreshed(region="us-west-2")
        self.assertRegex(done.stdout, r"us-east-1 +kept")
        self.assertEqual({key[1] for key in self.prices()}, {"us-east-1", "us-west-2"})

    def test_the_years_of_savings_plans_stay_as_they_were_asked(self):
        key = ("ml.p5.48xlarge", "us-west-2", "savings-plan")
        self.refreshed("--savings-plan-years", "3", what="offers,savings-plans")
        self.assertEqual(self.prices()[key]["usd_per_hour"], 30)
        self.refreshed(what="spot-advisor")
        self.assertEqual(self.prices()[key]["usd_per_hour"], 30)
        self.refreshed("--savings-plan-years", "1", what="spot-advisor")
        self.assertEqual(self.prices()[key]["usd_per_hour"], 45.5)

    def test_savings_plans_alone_name_what_they_need(self):
        self.refused("say nothing without offers.*write --what offers,savings-plans", what="savings-plans")

    def test_regions_are_those_of_the_catalog_all_or_named(self):
        done = self.refreshed(region=None)
        self.assertIn("AWS lists no file of eu-west-1", done.stderr)
        self.assertEqual(len(self.site.requests(WEST)), 1)
        self.refreshed(region="all")
        self.refused("unknown region 'us-west-3'.*us-west-2", region="us-west-3")
        self.refused("'; rm -rf /' is no region", region="; rm -rf /")
        self.refused("unknown source 'offer'", what="offer")

    def test_gzip_is_asked_for_and_unpacked(self):
        body = offer("us-west-2")
        self.site[WEST] = lambda request: answer(request, gzip.compress(body), ETag='"z"', Content_Encoding="gzip")
        self.refreshed()
        self.assertIn("gzip", self.site.requests(WEST)[0]["Accept-Encoding"])
        self.assertEqual((self.cache / "downloads/offers.us-west-2.json").read_bytes(), body)

    def test_json_answers_name_every_file(self):
        rows = json.loads(self.refreshed("--format", "json", what="offers,spot-advisor").stdout)
        self.assertEqual(
            [(r["file"], r["state"], r["on"]) for r in rows],
            [("offers.us-west-2.json", "new", "2026-12-01"), ("spot-advisor.json", "new", "2026-12-01")],
        )
        self.assertEqual(rows[0]["bytes"], len(offer("us-west-2")))


class Broken(Case):
    def test_a_body_that_breaks_off_is_continued(self):
        body = offer("us-west-2")
        whole = served(body, '"v"')
        self.site[WEST] = [served(body, '"v"', len(body) // 3), whole]
        self.refreshed()
        first, second = self.site.requests(WEST)
        self.assertNotIn("Range", first)
        self.assertEqual((second["Range"], second["If-Range"]), (f"bytes={len(body) // 3}-", '"v"'))
        self.assertEqual((self.cache / "downloads/offers.us-west-2.json").read_bytes(), body)

    def test_a_later_call_continues_what_was_never_finished(self):
        body = offer("us-west-2")
        self.site[WEST] = served(body, '"v"', 10)
        self.refused(r"broke off (at|after) 40")
        self.assertEqual(
            [h.get("Range") for h in self.site.requests(WEST)], [None, "bytes=10-", "bytes=20-", "bytes=30-"]
        )
        self.assertEqual((self.cache / "downloads/offers.us-west-2.json.part").read_bytes(), body[:40])
        self.site[WEST] = served(body, '"v"')
        self.refreshed()
        self.assertEqual(self.site.requests(WEST)[-1]["Range"], "bytes=40-")
        self.assertEqual((self.cache / "downloads/offers.us-west-2.json").read_bytes(), body)

    def test_without_a_version_it_starts_again(self):
        body = offer("us-west-2")
        for headers in ({}, {"ETag": 'W/"weak"'}):
            self.site[WEST] = [
                lambda request: answer(request, body[:50], 200, len(body), **headers),
                served(body, '"v"'),
            ]
            before = len(self.site.requests(WEST))
            self.refreshed()
            self.assertNotIn("Range", self.site.requests(WEST)[before + 1])

    def test_the_rest_of_another_version_is_never_joined(self):
        old, new = offer("us-west-2"), offer("us-west-2", "77.5")

        def careless(request):  # ignores If-Range
            begin = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            answer(request, new[begin:], 206, ETag='"new"', Content_Range=f"bytes {begin}-{len(new) - 1}/{len(new)}")

        beyond = status(416, Content_Range="bytes */7")
        other_place = lambda request: answer(
            request, old[9:], 206, ETag='"old"', Content_Range=f"bytes 9-{len(old) - 1}/{len(old)}"
        )
        for second in (served(new, '"new"'), careless, beyond, other_place):
            with tempfile.TemporaryDirectory() as cache:
                self.cache = pathlib.Path(cache)
                self.site[WEST] = [served(old, '"old"', 50), second, served(new, '"new"')]
                self.refreshed(SMPLAN_CACHE=cache)
                self.assertEqual((self.cache / "downloads/offers.us-west-2.json").read_bytes(), new)

    def test_a_part_that_nobody_asked_for(self):
        self.site[WEST] = lambda request: answer(request, b"{}", 206, Content_Range="bytes 5-6/7")
        self.refused("a part of another version")

    def test_errors_of_the_server_are_tried_again_and_refusals_are_not(self):
        self.site[WEST] = [status(500), status(503, Retry_After="0"), served(offer("us-west-2"), '"v"')]
        self.refreshed()
        self.assertEqual(len(self.site.requests(WEST)), 3)
        for code, times in ((500, 4), (429, 4), (404, 1), (403, 1), (401, 1), (304, 1), (300, 1)):
            with self.subTest(code):
                before = len(self.site.requests(WEST))
                (self.cache / "downloads/offers.us-west-2.json.meta").unlink(missing_ok=True)
                self.site[WEST] = status(code)
                self.refused(rf"index.json: answers (with the status )?{code}")
                self.assertEqual(len(self.site.requests(WEST)) - before, times)

    def test_a_connection_that_closes_at_once(self):
        self.site[WEST] = [
            lambda request: request.connection.shutdown(socket.SHUT_RDWR),
            served(offer("us-west-2"), '"v"'),
        ]
        self.refreshed()

    def test_the_wrong_document_leaves_the_right_one(self):
        self.refreshed(what="offers,spot-advisor")
        before = self.tree()
        wrong = {
            "a page": b"<!DOCTYPE html><title>Log in</title>",
            "nothing": b"",
            "another file": (SAMPLES / "spot-advisor-data.json").read_bytes(),
            "no text": b"\x1f\x8b\x08\x00",
            "an end too early": offer("us-west-2")[:-2],
            "an empty object": b"{}",
            "a depth": b'{"products":' + b"[" * 100_000,
            "a price": offer("us-west-2", "1e99"),
            "a price that commands": offer("us-west-2", "\x1b[2J"),
            "a key twice": b'{"offerCode": "AmazonEC2"}',
        }
        for name, body in wrong.items():
            with self.subTest(name):
                self.site[WEST] = served(body, f'"{name}"')
                done = self.refused(r"error: http://127\.0\.0\.1:\d+/offers/")
                self.assertIn("stays as it was, of 2026-12-01", done.stderr)
                self.assertEqual(self.tree(), before)

    def test_a_hostile_region_index(self):
        def index(path, region="us-west-2"):
            return served(
                json.dumps({"regions": {region: {"regionCode": region, "currentVersionUrl": path}}}).encode(), '"x"'
            )

        for path in (
            "//evil.example.com/x",
            "http://evil.example.com/x",
            "/../../x",
            "x",
            "",
            "/a b",
            "/a?b",
            "/\x1b[2J",
            "/" + "a" * 9999,
        ):
            with self.subTest(path[:40]):
                self.site[INDEX] = index(path)
                self.refused("names the region")
        for body in (
            b"[]",
            b"{}",
            b'{"regions": 7}',
            b"<html>",
            b'{"regions": [1]}',
            b'{"regions": {"a": 1}}',
            json.dumps({"regions": [{}] * 1001}).encode(),
        ):
            with self.subTest(body[:40]):
                self.site[INDEX] = served(body, '"x"')
                self.refused("error: http://127")
        self.assertFalse(self.cache.exists())

    def test_what_is_too_large_is_not_taken(self):
        def endless(request):
            request.send_response(200)
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            while True:
                request.wfile.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

        self.site[ADVISOR] = lambda request: answer(request, b"{}", length=10**13, ETag='"x"')
        self.refused(r"spot-advisor-data.json: is larger than the limit of", what="spot-advisor")
        self.site[ADVISOR] = lambda request: answer(request, gzip.compress(b" " * (65 << 20)), Content_Encoding="gzip")
        self.refused("is larger than the limit of", what="spot-advisor")
        self.assertFalse([name for name in self.tree() if name.endswith((".json", ".part"))])
        self.site[INDEX] = endless
        self.refused("region_index.json: is larger than the limit of")

    def test_packed_bytes_that_are_none(self):
        self.site[WEST] = lambda request: answer(request, b"no gzip at all", Content_Encoding="gzip")
        self.refused("index.json: ")

    def test_what_is_too_slow_ends_in_time(self):
        body = offer("us-west-2")

        def trickle(request):
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            for byte in body:
                request.wfile.write(bytes([byte]))
                time.sleep(0.05)

        for slow in (trickle, lambda request: time.sleep(30)):
            self.site[WEST] = slow
            begin = time.monotonic()
            self.refused("is not here after 2.00 s", "--timeout", "2s")
            self.assertLess(time.monotonic() - begin, 10)

    def test_no_network(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        words = ["catalog", "refresh", "--what", "offers,savings-plans,spot-advisor", "--mirror", nowhere]
        done = self.smplan(*words)
        self.assertEqual(done.returncode, 2)
        self.assertIn("127.0.0.1 cannot be reached", done.stderr)
        self.assertRegex(done.stderr, r"the shipped prices are used, the newest of 2026-\d\d-\d\d")
        self.assertFalse(self.cache.exists())
        self.refreshed()
        before = self.tree()
        done = self.smplan(*words)
        self.assertEqual(done.returncode, 2)
        self.assertIn("stays as it was, of 2026-12-01", done.stderr)
        self.assertEqual(self.tree(), before)
        done = self.smplan("catalog", "refresh", "--what", "offers", "--mirror", "https://no-such-host.invalid")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-host.invalid cannot be reached", done.stderr)

    def test_ending_it_leaves_nothing_that_passes_for_whole(self):
        body = offer("us-west-2")

        def stuck(request):
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.send_header("ETag", '"v"')
            request.end_headers()
            request.wfile.write(body[:100])
            time.sleep(30)

        part = self.cache / "downloads/offers.us-west-2.json.part"
        for ending in (signal.SIGINT, signal.SIGTERM):
            self.site[WEST] = stuck
            process = subprocess.Popen(
                [BINARY, "catalog", "refresh", "--mirror", self.site.url, "--what", "offers", "--region", "us-west-2"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.environment,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            end = time.monotonic() + 20
            while not (part.exists() and part.stat().st_size == 100) and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(ending)
            self.assertEqual((process.communicate(timeout=20), process.returncode), ((b"", b""), -ending))
            self.assertEqual({name for name in self.tree() if name.endswith(".json")}, set())
            self.site[WEST] = served(body, '"v"')
            self.refreshed()
            self.assertEqual(self.site.requests(WEST)[-1]["Range"], "bytes=100-")
            for path in self.cache.rglob("*.json*"):
                path.unlink()

    def test_two_at_a_time(self):
        release = threading.Event()
        self.addCleanup(release.set)
        body = offer("us-west-2")

        def held(request):
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[:100])
            release.wait(30)
            request.wfile.write(body[100:])

        self.site[WEST] = [held, served(body, '"v"')]
        first = subprocess.Popen(
            [BINARY, "catalog", "refresh", "--mirror", self.site.url, "--what", "offers", "--region", "us-west-2"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        while not (self.cache / "downloads/lock").exists() and first.poll() is None:
            time.sleep(0.01)
        self.refused("is written by another `smplan catalog refresh`")
        release.set()
        self.assertEqual(first.wait(20), 0)
        self.refreshed()

    def test_a_folder_that_takes_nothing(self):
        done = self.refresh("--cache", "/proc/cache")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/proc/cache/downloads: cannot be written", done.stderr)


class Addresses(Case):
    def test_redirects_are_followed_to_what_may_be_asked(self):
        other = Site()
        self.addCleanup(other.close)
        other["/there"] = served(offer("us-west-2"), '"v"')
        self.site[WEST] = redirect("/here")
        self.site["/here"] = redirect(f"{other.url}/there")
        self.refreshed()
        self.assertEqual(self.prices()[P5_WEST]["source"].split(", ")[-1], f"{self.site.url}{WEST}")

    def test_redirects_end(self):
        self.site[WEST] = redirect(WEST)
        self.refused("leads on more than 5 times")
        self.assertEqual(len(self.site.requests(WEST)), 6)
        for target in (
            "http://192.0.2.1/x",
            "ftp://127.0.0.1/x",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http://\x1b[2J/",
        ):
            self.site[WEST] = redirect(target)
            self.refused("index.json: ")

    def test_only_https_and_this_machine(self):
        for url, text in (
            ("http://192.0.2.1", "is http, which anybody on the way can change"),
            ("ftp://127.0.0.1", "is no https address"),
            ("file:///etc", "is no"),
            ("nonsense", "is no URL"),
            ("", "is empty"),
            ("http://127.0.0.1@192.0.2.1", "is http, which"),
            ("http://127.0.0.1.example.com", "is http, which"),
            ("https://", "is no URL"),
            ("https://me:word@127.0.0.1", "has a user, a password"),
            ("https://127.0.0.1/?x=1", "has a user, a password"),
        ):
            with self.subTest(url):
                done = self.smplan("catalog", "refresh", "--what", "offers", "--mirror", url)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, text)
        self.assertFalse(self.cache.exists())

    def test_https_needs_a_certificate_and_never_becomes_http(self):
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=127.0.0.1",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                key,
                "-out",
                certificate,
            ],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        plain = self.site
        self.site = Site(context)
        self.addCleanup(self.site.close)
        publish(self.site)
        self.refused("has no certificate that this machine trusts")
        self.refreshed(SSL_CERT_FILE=str(certificate))
        self.site[WEST] = redirect(f"{plain.url}{WEST}")
        self.refused("leads on to 'http://127.0.0.1:[0-9]+.*which is not https", SSL_CERT_FILE=str(certificate))
        self.assertEqual(plain.requests(WEST), [])


class UsersProgram(Case):
    def test_is_run_with_words_and_its_answer_imported(self):
        self.aws(f'[ "$1" = sts ] || cat "{SAMPLES}/describe-spot-price-history.json"')
        done = self.refreshed(what="spot-prices")
        self.assertRegex(done.stdout, "spot-prices.us-west-2.json +us-west-2 +new")
        calls = (self.folder / "calls").read_text()
        self.assertIn(
            "ec2\ndescribe-spot-price-history\n--region\nus-west-2\n--start-time\n2026-12-01T12:00:00Z\n", calls
        )
        self.assertIn("\nLinux/UNIX (Amazon VPC)\n", calls)
        price = self.prices()["ml.p5.48xlarge", "us-west-2", "spot"]
        self.assertEqual((price["usd_per_hour"], price["as_of"]), (12.836, "2026-03-01"))

    def test_training_plans_of_each_type_and_none_on_offer(self):
        plan = sample("search-training-plan-offerings.json")
        plan["TrainingPlanOfferings"][0]["UpfrontFee"] = "960.00"
        (self.folder / "plan.json").write_text(json.dumps(plan))
        self.aws(
            f'case "$*" in *ml.p5.48xlarge*) cat "{self.folder}/plan.json" ;;'
            ' *) echo \'{"TrainingPlanOfferings": []}\' ;; esac'
        )
        self.refreshed(what="training-plans")
        price = self.prices()["ml.p5.48xlarge", "us-west-2", "capacity-block"]
        self.assertEqual((price["usd_per_hour"], price["as_of"]), (20, "2026-12-01"))
        self.assertIn("aws sagemaker search-training-plan-offerings --region us-west-2", price["source"])
        self.aws("echo '{\"TrainingPlanOfferings\": []}'")
        self.refreshed(what="training-plans,offers")
        self.assertNotIn(("ml.p5.48xlarge", "us-west-2", "capacity-block"), self.prices(), "it is no more on offer")

    def test_without_it_the_command_is_named(self):
        path = os.pathsep.join(["", ".", "/usr/nowhere"])
        (self.folder / "aws").write_text("#!/bin/sh\ntouch ran\n")
        (self.folder / "aws").chmod(0o755)
        done = self.refreshed(what=None, PATH=path)
        self.assertRegex(
            done.stderr,
            r"spot-prices left out: there is no program `aws` on PATH; "
            r"the command: aws ec2 describe-spot-price-history",
        )
        self.assertRegex(done.stderr, r"training-plans left out \(\d+ times\): there is no program `aws`")
        self.assertFalse((self.folder / "ran").exists(), "a program of the working folder")
        self.refused("spot-prices: there is no program `aws` on PATH", what="spot-prices", PATH=path)

    def test_without_credentials_it_is_asked_once(self):
        self.aws('echo "Unable to locate \033[31mcredentials" >&2; exit 253')
        done = self.refreshed(what=None)
        self.assertRegex(
            done.stderr,
            r"spot-prices left out: `aws sts get-caller-identity --output json` ends with status 253: "
            r"Unable to locate \?\[31mcredentials",
        )
        self.assertEqual((self.folder / "calls").read_text().count("sts\n"), 1)
        self.assertNotIn("describe", (self.folder / "calls").read_text())
        self.assertNotIn("\x1b", done.stderr)

    def test_what_it_prints_is_not_trusted(self):
        for script, text in (
            ("echo '<html>'", "is XML or HTML"),
            ("echo", "is empty"),
            ("printf '{\"SpotPriceHistory\": ['", "ends|unexpected|incomplete|parse|end"),
            ('printf \'{"SpotPriceHistory": [{"SpotPrice": "1e99"}]}\'', "is no spot price"),
            ("exec yes", "prints more than the limit"),
            ("kill -9 $$", "was ended by signal 9"),
            ("sleep 60 & sleep 60", "is not done after 2.00 s"),
        ):
            with self.subTest(script):
                self.aws(f'[ "$1" = sts ] && exit 0\n{script}')
                self.refused(f"spot-prices: .*({text})", "--timeout", "2s", what="spot-prices")
        self.assertEqual([name for name in self.tree() if "spot-prices" in name], [])

    def test_it_may_ask_nobody_and_ends_with_smplan(self):
        self.aws(
            '[ "$1" = sts ] && exit 0\nread -r word && exit 5\n(: </dev/tty) 2>/dev/null && exit 6\n'
            '[ -z "$AWS_PAGER" ] || exit 7\n'
            f'echo $$ >"{self.folder}/pid"; exec sleep 60'
        )
        process = subprocess.Popen(
            [BINARY, "catalog", "refresh", "--what", "spot-prices", "--region", "us-west-2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, "AWS_PAGER": "less"},
        )
        pid = self.folder / "pid"
        end = time.monotonic() + 20
        while not (pid.exists() and pid.read_text().strip()) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
        process.kill()
        process.communicate()
        child = pathlib.Path("/proc", pid.read_text().strip(), "stat")
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if child.read_text().rsplit(")", 1)[1].split()[0] not in "ZX":
                    time.sleep(0.01)
                    continue
            break
        else:
            self.fail("aws goes on without smplan")


class TheCacheInUse(Case):
    def price(self, *arguments, **variables):
        done = self.smplan(
            "catalog",
            "list",
            "prices",
            "--region",
            "us-west-2",
            "--market",
            "on-demand",
            "--format",
            "json",
            *arguments,
            **variables,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(row for row in json.loads(done.stdout) if row["instance"] == "ml.p5.48xlarge"), done.stderr

    def setUp(self):
        super().setUp()
        self.site[WEST] = served(offer("us-west-2", "77.5"), '"v"')

    def test_lies_between_the_shipped_catalog_and_overlays(self):
        shipped, said = self.price()
        self.assertEqual(said, "")
        self.refreshed()
        refreshed, said = self.price()
        self.assertEqual(refreshed["usd_per_hour"], 77.5)
        self.assertEqual(
            said,
            f"smplan: facts refreshed on 2026-12-01 are used, from {self.cache}/prices.json "
            "(--no-cache leaves them out)\n",
        )
        for arguments, variables in ((["--no-cache"], {}), ([], {"SMPLAN_NO_CACHE": "1"})):
            self.assertEqual(self.price(*arguments, **variables), (shipped, ""))
        self.assertEqual(self.price("--quiet", SMPLAN_NO_CACHE="0"), (refreshed, ""))
        own = self.folder / "own.json"
        own.write_text(
            json.dumps(
                {
                    "schema": "smplan.catalog/1",
                    "prices": [
                        {
                            "instance": "ml.p5.48xlarge",
                            "region": "us-west-2",
                            "market": "on-demand",
                            "usd_per_hour": 5,
                            "basis": "measured",
                            "source": "an offer",
                            "as_of": "2026-11-30",
                        }
                    ],
                }
            )
        )
        self.assertEqual(self.price("--catalog", str(own))[0]["usd_per_hour"], 5)

    def test_plans_name_it_and_diff_and_verify_see_it(self):
        job = [
            "--model",
            "llama-2-7b",
            "--instances",
            "ml.p5.48xlarge",
            "--count",
            "1",
            "--region",
            "us-west-2",
            "--stack",
            "fsdp",
        ]
        before = json.loads(self.smplan("plan", *job, "--format", "json").stdout)
        self.refreshed()
        table = self.smplan("plan", *job)
        self.assertIn("Prices:", table.stdout)
        self.assertIn(f"{self.site.url}{WEST}", " ".join(table.stdout.split()))
        self.assertIn("facts refreshed on 2026-12-01", table.stderr)
        after = json.loads(self.smplan("plan", *job, "--format", "json").stdout)
        self.assertEqual(json.loads(self.smplan("plan", *job, "--format", "json", "--no-cache").stdout), before)
        self.assertNotEqual(after["plans"][0]["cost"], before["plans"][0]["cost"])
        done = self.smplan("catalog", "diff")
        self.assertRegex(done.stdout, r"prices/ml.p5.48xlarge us-west-2 on-demand .*\$77.5/h \(measured, 2026-09-24\)")
        self.assertEqual(self.smplan("catalog", "diff", "--no-cache").returncode, 2)
        stale = self.smplan("catalog", "verify", "--max-age", "90d").stdout
        self.assertNotIn("prices/ml.p5.48xlarge us-west-2 on-demand", stale)
        self.assertIn("smplan catalog refresh", " ".join(stale.split()))

    def test_a_sweep_tells_it_from_the_shipped_facts(self):
        sweep = [
            "sweep",
            "--model",
            "gpt2",
            "--instances",
            "ml.p5.48xlarge",
            "--count",
            "1",
            "--region",
            "us-west-2",
            "--format",
            "jsonl",
        ]
        identity = lambda *words: json.loads(self.smplan(*sweep, *words).stdout.splitlines()[0])["identity"]
        before = identity()
        self.refreshed()
        self.assertNotEqual(identity(), before)
        self.assertEqual(identity("--no-cache"), before)
        self.assertEqual(identity("--no-cache", "--catalog", str(self.cache / "prices.json")), identity())

    def test_what_is_broken_or_old_is_left_out_with_a_warning(self):
        shipped, _ = self.price()
        self.refreshed()
        path = self.cache / "prices.json"
        good = json.loads(path.read_text())

        def changed(**members):
            return json.dumps({**copy.deepcopy(good), **members})

        cases = {
            "": "",
            "{": "",
            "\x00": "",
            "[]": "",
            "{}": "another release",
            changed(schema="smplan.catalog/9"): "schema",
            changed(refreshed={}): "it has no day",
            changed(refreshed={"on": "soon"}): "it has no day",
            changed(
                refreshed={**good["refreshed"], "on": "2026-01-01"}
            ): "is of 2026-01-01, before the shipped prices of",
            changed(prices=[{**good["prices"][0], "instance": "ml.p99.48xlarge"}]): "ml.p99.48xlarge",
            changed(princes=[]): "princes",
        }
        for text, reason in cases.items():
            with self.subTest(text[:40] + reason):
                path.write_text(text)
                found, said = self.price()
                self.assertEqual(found, shipped)
                self.assertRegex(
                    said,
                    rf"{path}: .*{reason}.*left out, the shipped facts are used "
                    r"\(write it anew with `smplan catalog refresh`",
                )
                self.assertEqual(said.count("\n"), 1)
        path.unlink()
        os.mkfifo(path)
        self.assertIn("is no file", self.price()[1])
        path.unlink()
        self.refreshed()
        self.assertEqual(self.price()[0]["usd_per_hour"], 77.5)

    def test_where_it_lies(self):
        home, xdg = self.folder / "home", self.folder / "xdg"
        bare = {name: value for name, value in self.environment.items() if name != "SMPLAN_CACHE"}
        self.environment = bare
        done = self.refresh()
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cache: is needed where neither SMPLAN_CACHE nor XDG_CACHE_HOME nor HOME is set", done.stderr)
        self.refreshed(HOME=str(home))
        self.assertTrue((home / ".cache/smplan/prices.json").is_file())
        self.refreshed(HOME=str(home), XDG_CACHE_HOME=str(xdg))
        self.assertTrue((xdg / "smplan/prices.json").is_file())
        self.assertEqual(self.price(HOME=str(home), XDG_CACHE_HOME="relative")[0]["usd_per_hour"], 77.5)
        done = self.refreshed("--cache", str(self.folder / "own"))
        self.assertIn(f"commands use it with SMPLAN_CACHE={self.folder}/own", done.stderr)
        self.assertEqual(self.price(SMPLAN_CACHE=str(self.folder / "own"))[0]["usd_per_hour"], 77.5)

    def test_what_speaks_of_the_program_has_no_part_of_it(self):
        for command in (["completion", "bash"], ["manual"], ["--version", "--json"], ["probe"]):
            before = self.smplan(*command)
            self.refreshed()
            after = self.smplan(*command)
            self.assertEqual((after.stdout, after.stderr), (before.stdout, ""))

    def test_flags_of_it_go_with_nothing_else(self):
        for flags in (
            ["--what", "offers"],
            ["--cache", "x"],
            ["--mirror", "https://x"],
            ["--timeout", "1s"],
            ["--allow-http"],
        ):
            done = self.smplan("catalog", "verify", *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn("only to `catalog refresh`", done.stderr)
        own = self.folder / "own.json"
        own.write_text('{"schema": "smplan.catalog/1"}')
        self.refused("says nothing to `catalog refresh`", "--catalog", str(own))
        self.refused("takes no name", "offers")
        for timeout in ("0s", "2d", "soon"):
            self.refused("--timeout", "--timeout", timeout)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
