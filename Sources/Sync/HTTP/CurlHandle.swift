import CCurl

/// One libcurl easy handle with a multi handle of its own, which keeps the connection open between requests.
///
/// Unchecked: libcurl allows any thread to use its handles, one thread at a time. ``CurlPool`` gives a handle
/// to one ``CurlExchange`` at a time, whose thread uses it. Other threads call only `curl_multi_wakeup`,
/// which libcurl allows (https://curl.se/libcurl/c/curl_multi_wakeup.html).
final class CurlHandle: @unchecked Sendable {
    let easy: OpaqueEasy
    let multi: OpaqueMulti

    typealias OpaqueEasy = UnsafeMutableRawPointer
    typealias OpaqueMulti = UnsafeMutableRawPointer

    /// libcurl's global initialization: once per process, before any other call.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init() throws(SyncError) {
        guard CurlHandle.isReady, let easy = curl_easy_init() else {
            throw SyncError(.failed, "libcurl cannot be started")
        }
        guard let multi = curl_multi_init() else {
            curl_easy_cleanup(easy)
            throw SyncError(.failed, "libcurl cannot be started")
        }
        self.easy = easy
        self.multi = multi
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
    }

    func wakeUp() { curl_multi_wakeup(multi) }

    /// Clears the options of the last request; connections stay open.
    func reset() { curl_easy_reset(easy) }

    func set(_ option: CURLoption, _ value: Int) throws(SyncError) {
        try check(tandem_setopt_long(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String) throws(SyncError) {
        try check(tandem_setopt_string(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(SyncError) {
        try check(tandem_setopt_pointer(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: @escaping tandem_data_callback) throws(SyncError) {
        try check(tandem_setopt_data(easy, option, value))
    }

    /// Copies `body` into the handle.
    func setBody(_ body: [UInt8]) throws(SyncError) {
        try set(CURLOPT_POST, 1)
        try check(tandem_setopt_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        let code = body.withUnsafeBytes { bytes in
            // An empty array may have no address, and a null pointer means that a callback reads the body.
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { spare in
                let address = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) } ?? spare.baseAddress
                return tandem_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, address)
            }
        }
        try check(code)
    }

    func check(_ code: CURLcode) throws(SyncError) {
        guard code == CURLE_OK else {
            throw SyncError(.failed, "libcurl refuses an option: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}
