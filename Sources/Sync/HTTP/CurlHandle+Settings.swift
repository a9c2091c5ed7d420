import CCurl

/// What every request needs, whatever server it goes to.
extension CurlHandle {
    /// Sends the request to the address that was set, or nowhere: no redirects, proxies, cookies, `.netrc`, HSTS
    /// and alternative services.
    func setSafety() throws(SyncError) {
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // An empty name also switches off a proxy from the environment.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // Cookies, HSTS and alternative services are off unless a file or an engine is set.
        try set(CURLOPT_HSTS_CTRL, 0)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_USERAGENT, "tandem/\(wireVersion)")
    }

    /// Bounds the time to connect, the time without progress and the whole time.
    ///
    /// - Parameters:
    ///   - extraSeconds: For how long the server may wait before it answers.
    ///   - bodySeconds: How long the body may travel on top of other requests.
    func setTimes(_ limits: Limits, extraSeconds: Int = 0, bodySeconds: Int = 0) throws(SyncError) {
        try set(CURLOPT_CONNECTTIMEOUT_MS, limits.connectTimeoutMilliseconds)
        try set(CURLOPT_LOW_SPEED_LIMIT, limits.lowSpeedBytesPerSecond)
        try set(CURLOPT_LOW_SPEED_TIME, limits.lowSpeedSeconds + extraSeconds)
        try set(CURLOPT_TIMEOUT, limits.requestSeconds + extraSeconds + bodySeconds)
    }

    /// Requires a trusted certificate with the server's name.
    func setTLS(_ files: TLSFiles) throws(SyncError) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = files.authorities { try set(CURLOPT_CAINFO, file) }
        if let file = files.certificate {
            try set(CURLOPT_SSLCERT, file)
            // A resumed session has the certificate of the first one, whatever the file holds by now.
            try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        }
        if let file = files.key { try set(CURLOPT_SSLKEY, file) }
        if let key = files.serverKey { try set(CURLOPT_PINNEDPUBLICKEY, key) }
    }

    /// Bounds the average speed of the body. ``ReceiveRate`` bounds that of the answer.
    ///
    /// - Parameter bytes: Bytes a second; nil for no bound.
    func setSendRate(_ bytes: Int?) throws(SyncError) {
        if let bytes { try check(tandem_setopt_offset(easy, CURLOPT_MAX_SEND_SPEED_LARGE, curl_off_t(bytes))) }
    }
}
