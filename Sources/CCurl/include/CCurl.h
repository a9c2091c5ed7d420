#ifndef TANDEM_CCURL_H
#define TANDEM_CCURL_H
#include <curl/curl.h>
#endif
