import CCurl

/// Header lines that libcurl reads during a transfer. They must live until its end.
///
/// Unchecked: nobody changes the list after its creation.
final class CurlHeaders: @unchecked Sendable {
    fileprivate let list: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }
}

extension CurlHandle {
    /// Sets the header lines of the next request. The handle does not keep `headers` alive.
    func set(_ headers: CurlHeaders) throws(SyncError) {
        try check(tandem_setopt_headers(easy, headers.list))
    }
}
