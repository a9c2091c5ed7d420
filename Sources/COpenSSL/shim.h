#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* Checks a client's certificate against the authorities of a store, at this moment.

   Returns X509_V_OK or the code of the first error. An authority between the root and the client counts as an
   anchor of its own, as in libcurl. */
static inline int tandem_verify_client(X509_STORE *authorities, X509 *certificate) {
  X509_STORE_CTX *context = X509_STORE_CTX_new();
  int code = X509_V_ERR_UNSPECIFIED;
  if (context != NULL && X509_STORE_CTX_init(context, authorities, certificate, NULL) == 1) {
    X509_STORE_CTX_set_flags(context, X509_V_FLAG_PARTIAL_CHAIN);
    if (X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_CLIENT) == 1) {
      if (X509_verify_cert(context) == 1) {
        code = X509_V_OK;
      } else {
        code = X509_STORE_CTX_get_error(context);
        if (code == X509_V_OK) code = X509_V_ERR_UNSPECIFIED;
      }
    }
  }
  X509_STORE_CTX_free(context);
  ERR_clear_error();
  return code;
}
