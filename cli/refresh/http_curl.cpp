#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "cli/refresh/http.hpp"

namespace smplan::cli {
namespace {

constexpr int kMostRedirects = 5;
constexpr long kConnectSeconds = 15;
constexpr long kLeastBytesPerSecond = 64;
constexpr std::size_t kLongestHeader = 8192;
constexpr std::size_t kLongestShown = 300;
/// libcurl counts in milliseconds.
constexpr std::chrono::milliseconds kClockStep{20};
constexpr std::chrono::milliseconds kFirstWait{250};
constexpr std::chrono::seconds kLongestWait{20};

using Clock = std::chrono::steady_clock;

struct CurlDelete {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Handle = std::unique_ptr<CURL, CurlDelete>;
using HeaderList = std::unique_ptr<curl_slist, CurlDelete>;
using Url = std::unique_ptr<CURLU, CurlDelete>;

/// A part of a URL as libcurl reads it; empty where it is none.
std::string part_of(const std::string& url, CURLUPart part) {
  const Url parsed(curl_url());
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  char* text = nullptr;
  if (curl_url_get(parsed.get(), part, &text, 0) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

bool is_this_machine(const std::string& host) {
  const bool loopback = host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || loopback;
}

/// https to anywhere; http to this machine, or where it was allowed.
Result<void> may_ask(const std::string& url, bool allow_http) {
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  const std::string host = host_of(url);
  if (host.empty()) return fail("bad-url", quote(url), "is no URL", "write for example https://mirror.example.com/aws");
  if (scheme == "https" || (scheme == "http" && (allow_http || is_this_machine(host)))) return {};
  if (scheme != "http") return fail("bad-url", quote(url), "is no https address", "only https is downloaded");
  return fail("insecure-url", quote(url), "is http, which anybody on the way can change",
              "use https, or --allow-http where you trust the network");
}

/// What one answer says before its body.
struct Headers {
  long status = 0;
  Version version;
  bool encoded = false;
  std::optional<std::uint64_t> length;       ///< Content-Length
  std::optional<std::uint64_t> range_begin;  ///< Content-Range
  std::optional<std::uint64_t> range_total;
  std::optional<std::chrono::seconds> retry_after;
};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `bytes 100-199/200`.
void read_range(std::string_view text, Headers& headers) {
  constexpr std::string_view kUnit = "bytes ";
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos || slash == std::string_view::npos) return;
  headers.range_begin = whole_number(text.substr(kUnit.size(), dash - kUnit.size()));
  headers.range_total = whole_number(text.substr(slash + 1));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

void read_header(std::string_view line, Headers& headers) {
  // An interim answer or one behind a proxy's comes with headers of its own.
  if (line.starts_with("HTTP/")) {
    headers = {};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || line.size() > kLongestHeader) return;
  const std::string name = lower_case(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "etag") headers.version.etag = value;
  if (name == "last-modified") headers.version.last_modified = value;
  if (name == "content-encoding") headers.encoded = !value.empty() && lower_case(value) != "identity";
  if (name == "content-length") headers.length = whole_number(value);
  if (name == "content-range") read_range(value, headers);
  if (name == "retry-after") {
    if (const auto seconds = whole_number(value))
      headers.retry_after = std::chrono::seconds(std::min(*seconds, std::uint64_t{3600}));
  }
}

/// How one request ended.
struct Attempt {
  enum class End { Done, Unchanged, Redirect, Again, Failed };
  End end = End::Failed;
  Version version;
  std::string redirect;
  Diagnostic fault;
  std::chrono::milliseconds wait{0};  ///< that the server asks for
};

/// One request, and the callbacks of libcurl into it.
class Request {
 public:
  Request(const std::string& url, const Version& known, const HttpLimits& limits, Body& body, const Progress& progress,
          Clock::time_point end)
      : url_(url), known_(known), limits_(limits), body_(body), progress_(progress), end_(end), held_(body.held()) {}

  Attempt run();

 private:
  void set_options(CURL* curl);
  HeaderList request_headers() const;
  Attempt judge(CURL* curl, CURLcode code);
  Attempt judge_status(CURL* curl);
  Attempt judge_body();
  Attempt failed(std::string code, std::string message, std::string hint) const;
  Attempt again(std::string code, std::string message) const;
  /// The answer continues what is held, as was asked.
  bool continues() const;
  bool begin_body();
  bool take(std::string_view bytes);

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);

  const std::string& url_;
  const Version& known_;
  const HttpLimits& limits_;
  Body& body_;
  const Progress& progress_;
  Clock::time_point end_;
  std::uint64_t held_;
  CURL* curl_ = nullptr;
  Headers headers_;
  bool begun_ = false;
  bool too_large_ = false;
  bool mismatched_ = false;
  std::optional<Diagnostics> unwritable_;
};

std::size_t Request::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  read_header(std::string_view(data, size * count), static_cast<Request*>(self)->headers_);
  return size * count;
}

std::size_t Request::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<Request*>(self)->take(std::string_view(data, size * count)) ? size * count : 0;
}

bool Request::continues() const {
  const Version held = body_.held_version();
  return headers_.range_begin == held_ && headers_.range_total && *headers_.range_total > held_ && !headers_.encoded &&
         (headers_.version.etag.empty() || headers_.version.etag == held.etag);
}

bool Request::begin_body() {
  begun_ = true;
  if (headers_.status == 206) {
    mismatched_ = held_ == 0 || !continues();
    return !mismatched_;
  }
  const Result<void> begun = body_.begin(headers_.encoded ? Version() : headers_.version);
  if (!begun) unwritable_ = begun.error();
  return begun.has_value();
}

bool Request::take(std::string_view bytes) {
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &headers_.status);
  if (headers_.status != 200 && headers_.status != 206) return true;  // a page about the error
  const std::uint64_t announced = headers_.range_total.value_or(headers_.encoded ? 0 : headers_.length.value_or(0));
  too_large_ = announced > limits_.max_bytes;
  if (too_large_ || (!begun_ && !begin_body())) return false;
  too_large_ = body_.size() + bytes.size() > limits_.max_bytes;
  if (too_large_) return false;
  if (const Result<void> written = body_.write(bytes); !written) {
    unwritable_ = written.error();
    return false;
  }
  if (progress_) progress_(body_.size(), announced);
  return true;
}

HeaderList Request::request_headers() const {
  HeaderList list;
  const auto add = [&list](const std::string& line) {
    if (curl_slist* longer = curl_slist_append(list.get(), line.c_str())) {
      static_cast<void>(list.release());
      list.reset(longer);
    }
  };
  add("Accept: application/json");
  if (held_ > 0) {
    const Version held = body_.held_version();
    add("If-Range: " + (held.etag.empty() ? held.last_modified : held.etag));
  } else {
    if (!known_.etag.empty()) add("If-None-Match: " + known_.etag);
    if (!known_.last_modified.empty()) add("If-Modified-Since: " + known_.last_modified);
  }
  return list;
}

void Request::set_options(CURL* curl) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
  curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  // Each redirect is judged by itself.
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(1, left));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, std::max<long>(1, static_cast<long>(limits_.stall.value())));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "smplan/" SMPLAN_VERSION);
  // A range counts bytes as they are sent, so that a body that is to be continued comes as it is.
  if (held_ > 0) {
    curl_easy_setopt(curl, CURLOPT_RANGE, fmt::format("{}-", held_).c_str());
  } else {
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* bundle = std::getenv(name);
    if (bundle == nullptr || *bundle == '\0') continue;
    curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
    break;
  }
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Request::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Request::on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
}

Attempt Request::failed(std::string code, std::string message, std::string hint) const {
  Attempt attempt;
  attempt.fault = {std::move(code), printable(url_, kLongestShown), std::move(message), std::move(hint)};
  return attempt;
}

Attempt Request::again(std::string code, std::string message) const {
  Attempt attempt = failed(std::move(code), std::move(message), "try again later; what has arrived is kept");
  attempt.end = Attempt::End::Again;
  if (headers_.retry_after) attempt.wait = *headers_.retry_after;
  return attempt;
}

/// Whether all of the body is here.
Attempt Request::judge_body() {
  if (!begun_ && !begin_body()) {  // an empty one
    return unwritable_ ? failed(unwritable_->front().code, unwritable_->front().message, "")
                       : again("bad-range", "answers with a part that was not asked for");
  }
  const bool part = headers_.status == 206;
  std::optional<std::uint64_t> whole = headers_.range_total;
  if (!part) whole = headers_.encoded ? std::nullopt : headers_.length;
  if (whole && body_.size() != *whole) {
    return again("short-body", fmt::format("broke off at {} of {} bytes", body_.size(), *whole));
  }
  Attempt attempt;
  attempt.end = Attempt::End::Done;
  attempt.version = part ? body_.held_version() : headers_.version;
  return attempt;
}

Attempt Request::judge_status(CURL* curl) {
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &headers_.status);
  const long status = headers_.status;
  if (status == 304 && known_.known() && held_ == 0) {
    Attempt attempt;
    attempt.end = Attempt::End::Unchanged;
    attempt.version = headers_.version.known() ? headers_.version : known_;
    return attempt;
  }
  if (status >= 300 && status < 400) {
    char* target = nullptr;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &target);
    if (target == nullptr) return failed("bad-answer", fmt::format("answers {} and leads nowhere", status), "");
    Attempt attempt;
    attempt.end = Attempt::End::Redirect;
    attempt.redirect = target;
    return attempt;
  }
  if (status == 200 || status == 206) return judge_body();
  if (status == 416 && held_ > 0) {  // the rest of another, shorter version
    static_cast<void>(body_.begin({}));
    return again("bad-range", "has no such rest of the file");
  }
  if (status >= 500 || status == 429 || status == 408) {
    return again("server-error", fmt::format("answers with the status {}", status));
  }
  return failed("bad-answer", fmt::format("answers with the status {}", status),
                status == 404   ? "check the address of the mirror, and that smplan is up to date"
                : status == 403 ? "check that the network or mirror lets this machine read it"
                                : "check what a proxy or mirror makes of it");
}

Attempt Request::judge(CURL* curl, CURLcode code) {
  if (unwritable_) {
    const Diagnostic& fault = unwritable_->front();
    Attempt attempt;
    attempt.fault = fault;
    return attempt;
  }
  if (too_large_) {
    return failed(
        "too-large",
        fmt::format("is larger than the limit of {}", format_bytes(Bytes(static_cast<double>(limits_.max_bytes)))),
        "check what a proxy or mirror makes of it");
  }
  if (mismatched_) {  // a part of another version, or none that was asked for
    if (const Result<void> dropped = body_.begin({}); !dropped)
      return failed(dropped.error().front().code, dropped.error().front().message, "");
    return again("bad-range", "answers with a part of another version");
  }
  const std::string host = host_of(url_);
  switch (code) {
    case CURLE_OK:
      return judge_status(curl);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return failed("unreachable", fmt::format("{} cannot be reached: {}", host, curl_easy_strerror(code)),
                    "check the network, and HTTPS_PROXY where there is a proxy");
    case CURLE_COULDNT_CONNECT: {
      Attempt attempt = again("unreachable", fmt::format("{} cannot be reached: {}", host, curl_easy_strerror(code)));
      attempt.fault.hint = "check the network, and HTTPS_PROXY where there is a proxy";
      return attempt;
    }
    case CURLE_OPERATION_TIMEDOUT:
      return Clock::now() + kClockStep >= end_
                 ? failed("too-slow",
                          fmt::format("is not here after {}, {} arrived", format_duration(limits_.total),
                                      format_bytes(Bytes(static_cast<double>(body_.size())))),
                          "give it longer with --timeout; what has arrived is kept")
                 : again("too-slow", fmt::format("{} sends nothing", host));
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return again("connection-lost",
                   fmt::format("broke off after {} bytes: {}", body_.size(), curl_easy_strerror(code)));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return failed("bad-certificate",
                    fmt::format("{} has no certificate that this machine trusts: {}", host, curl_easy_strerror(code)),
                    "where a proxy looks into https, name its certificates with SSL_CERT_FILE");
    default:
      return failed("download-failed", curl_easy_strerror(code), "check the network, proxy and mirror");
  }
}

Attempt Request::run() {
  const Handle curl(curl_easy_init());
  if (!curl) return failed("download-failed", "libcurl cannot start", "");
  curl_ = curl.get();
  set_options(curl.get());
  const HeaderList list = request_headers();
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list.get());
  const CURLcode code = curl_easy_perform(curl.get());
  return judge(curl.get(), code);
}

/// Waits double from one attempt to the next; a server may ask for more.
std::chrono::milliseconds wait_before(int attempt, std::chrono::milliseconds asked) {
  return std::min<std::chrono::milliseconds>(std::max(kFirstWait * (1 << std::min(attempt, 10)), asked), kLongestWait);
}

/// Follows redirects to an answer that is none.
Attempt ask(const std::string& url, const Version& known, const HttpLimits& limits, Body& body,
            const Progress& progress, Clock::time_point end) {
  std::string at = url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    Attempt attempt = Request(at, known, limits, body, progress, end).run();
    if (attempt.end != Attempt::End::Redirect) return attempt;
    const bool downgrade =
        part_of(at, CURLUPART_SCHEME) == "https" && part_of(attempt.redirect, CURLUPART_SCHEME) != "https";
    const Result<void> allowed = may_ask(attempt.redirect, limits.allow_http);
    if (downgrade || !allowed) {
      attempt.end = Attempt::End::Failed;
      attempt.fault = {"bad-redirect", url, fmt::format("leads on to {}, which is not https", quote(attempt.redirect)),
                       "check what a proxy or mirror makes of it"};
      return attempt;
    }
    at = attempt.redirect;
  }
  Attempt attempt;
  attempt.fault = {"bad-redirect", url, fmt::format("leads on more than {} times", kMostRedirects),
                   "check what a proxy or mirror makes of it"};
  return attempt;
}

}  // namespace

Result<void> http_available() {
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted == CURLE_OK) return {};
  return fail("download-failed", "libcurl", "cannot start", "");
}

Result<void> check_mirror(const std::string& url, bool allow_http) {
  if (Result<void> allowed = may_ask(url, allow_http); !allowed) return allowed;
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT}) {
    if (part_of(url, part).empty()) continue;
    return fail("bad-url", "--mirror", "has a user, a password, a query or a fragment, which every price would name",
                "give scheme, host and path alone");
  }
  return {};
}

Result<Fetched> http_get(const std::string& url, const Version& known, const HttpLimits& limits, Body& body,
                         const Progress& progress) {
  if (const Result<void> started = http_available(); !started) return tl::unexpected<Diagnostics>(started.error());
  if (const Result<void> allowed = may_ask(url, limits.allow_http); !allowed) {
    return tl::unexpected<Diagnostics>(allowed.error());
  }
  const Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(limits.total.value() * 1000));
  Attempt attempt;
  for (int i = 0; i < limits.attempts; ++i) {
    attempt = ask(url, known, limits, body, progress, end);
    if (attempt.end == Attempt::End::Done) return Fetched{false, attempt.version};
    if (attempt.end == Attempt::End::Unchanged) return Fetched{true, attempt.version};
    const auto wait = wait_before(i, attempt.wait);
    if (attempt.end == Attempt::End::Failed || i + 1 == limits.attempts || Clock::now() + wait >= end) break;
    std::this_thread::sleep_for(wait);
  }
  return tl::unexpected<Diagnostics>(Diagnostics{attempt.fault});
}

std::string host_of(const std::string& url) { return part_of(url, CURLUPART_HOST); }

}  // namespace smplan::cli
