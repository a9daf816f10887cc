#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"

namespace smplan::cli {

/// What a server says of a version of a file, so that it can be asked whether it has another.
struct Version {
  std::string etag;
  std::string last_modified;
  [[nodiscard]] bool known() const { return !etag.empty() || !last_modified.empty(); }
  friend bool operator==(const Version&, const Version&) = default;
};

/// Where a body goes. What an earlier attempt left may be continued, if the server still has that version.
class Body {
 public:
  Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;

  /// Bytes held from before, and of which version; none where they cannot be continued.
  [[nodiscard]] virtual std::uint64_t held() const = 0;
  [[nodiscard]] virtual Version held_version() const = 0;
  /// A new body begins: drops what is held. `version` is empty where the bytes cannot be continued later.
  virtual Result<void> begin(const Version& version) = 0;
  virtual Result<void> write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

/// A body in memory.
class TextBody : public Body {
 public:
  [[nodiscard]] std::uint64_t held() const override { return 0; }
  [[nodiscard]] Version held_version() const override { return {}; }
  Result<void> begin(const Version&) override {
    text_.clear();
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  [[nodiscard]] std::uint64_t size() const override { return text_.size(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct HttpLimits {
  std::uint64_t max_bytes = 0;
  Seconds total = Seconds(600);  ///< of all attempts and the waits between them
  Seconds stall = Seconds(20);   ///< nearly nothing arrives for so long
  int attempts = 4;
  /// Beside https: http on any host, and not only on this machine.
  bool allow_http = false;
};

/// Bytes here and bytes in all; 0 where the server does not say.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

struct Fetched {
  bool unchanged = false;  ///< the server has no other version than the one known
  Version version;
};

/// Whether this build can download at all; if not, why and what to do instead.
Result<void> http_available();

/// What stands in the place of AWS's servers: an address that may be asked, and nothing that is not to be written down.
Result<void> check_mirror(const std::string& url, bool allow_http);

/// GET over https (http as `limits` say), at most five redirects of which none leads from https to http. Connections
/// lost and answers of 5xx are tried again, from where the body broke off if the server allows it. What is too large,
/// too slow or no 200 is refused. `known`: the version at hand, which need not be sent again.
Result<Fetched> http_get(const std::string& url, const Version& known, const HttpLimits& limits, Body& body,
                         const Progress& progress = {});

/// `pricing.us-east-1.amazonaws.com` of a URL; empty where it is none.
std::string host_of(const std::string& url);

}  // namespace smplan::cli
