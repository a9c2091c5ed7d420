/* libcurl for Swift. Its setopt and getinfo functions are variadic, and Swift cannot call variadic C
   functions. So each type of argument that Tandem uses has a function of its own. */
#ifndef TANDEM_CCURL_H
#define TANDEM_CCURL_H
#include <curl/curl.h>

typedef size_t (*tandem_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode tandem_setopt_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tandem_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the string. */
static inline CURLcode tandem_setopt_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tandem_setopt_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tandem_setopt_headers(CURL *easy, struct curl_slist *value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

static inline CURLcode tandem_setopt_data(CURL *easy, CURLoption option, tandem_data_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tandem_response_code(CURL *easy, long *code) {
  return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, code);
}

/* Removes the next finished transfer from the multi handle's queue and returns its result; CURLE_AGAIN when
   no transfer has finished. */
static inline CURLcode tandem_multi_result(CURLM *multi) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)) != 0) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return CURLE_AGAIN;
}

/* Swift does not import the macro CURL_WRITEFUNC_PAUSE. */
static inline size_t tandem_pause(void) { return CURL_WRITEFUNC_PAUSE; }
#endif
