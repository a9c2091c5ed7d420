import CCurl

/// Translates libcurl's result codes to errors for people.
enum CurlFailure {
    /// - Parameters:
    ///   - text: libcurl's own description of this failure; may be empty. It names host and port, never a
    ///     header.
    static func error(_ code: CURLcode, text: String, party: CurlParty) -> SyncError {
        let peer = party.name
        let reason = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        switch code {
        case CURLE_ABORTED_BY_CALLBACK:
            return SyncError(.cancelled, "The exchange with \(peer) was stopped")
        case CURLE_COULDNT_RESOLVE_HOST:
            return SyncError(
                .unreachable, "The host of \(peer) is not known: \(reason)",
                hint: "Check the name and this machine's DNS.")
        case CURLE_COULDNT_CONNECT:
            return SyncError(
                .unreachable, "\(peer) cannot be reached: \(reason)",
                hint: party.connectionHint)
        case CURLE_OPERATION_TIMEDOUT:
            return SyncError(
                .timedOut, "\(peer) did not answer in time: \(reason)", hint: "The next try follows by itself.")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            return SyncError(
                .tls, "The certificate of \(peer) is not trusted: \(reason)",
                hint: "Give the authority that signed it with --tls-ca, and check the host's name in it.")
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return SyncError(
                .tls, "\(peer) has another key than the pinned one",
                hint: "If its key was exchanged, add the new one to tls-pin; otherwise somebody is in between.")
        case CURLE_SSL_CONNECT_ERROR:
            return SyncError(
                .tls, "No secure connection to \(peer): \(reason)",
                hint: party.secureHint)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return SyncError(
                .tls, "TLS with \(peer) failed: \(reason)",
                hint: "Check the certificate, key and authority files that were given.")
        // What a listener with TLS answers to plain HTTP is no answer, or a few bytes of TLS.
        case CURLE_GOT_NOTHING where party.isPlain:
            return SyncError(.truncated, "The connection to \(peer) broke: \(reason)", hint: party.plainHint)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            return SyncError(
                .truncated, "The connection to \(peer) broke: \(reason)", hint: "The next try follows by itself.")
        case CURLE_UNSUPPORTED_PROTOCOL where party.isPlain, CURLE_WEIRD_SERVER_REPLY where party.isPlain:
            return SyncError(.notAPeer, "\(peer) does not speak HTTP: \(reason)", hint: party.plainHint)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_URL_MALFORMAT:
            return SyncError(
                .notAPeer, "\(peer) does not speak HTTP: \(reason)", hint: "Check the address and the port.")
        default:
            return SyncError(.unreachable, "The exchange with \(peer) failed: \(reason)")
        }
    }
}
