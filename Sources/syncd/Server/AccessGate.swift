import Foundation
import HTTPTypes
import Hummingbird

/// Decides who may use a route.
struct AccessGate: Sendable {
    /// Returns the token of this moment; nil only for a listener on loopback.
    let token: @Sendable () -> Token?

    /// Throws unless the request may use the route.
    ///
    /// - Parameter route: nil for a path that does not exist. It needs the token like any other, so that a
    ///   caller without one does not learn which paths exist.
    /// - Throws: ``Refusal`` 401 or 403. Its text does not tell what is wrong with the credentials.
    func check(_ request: Request, for route: Route?) throws {
        if route?.access == .anyone { return }
        guard let token = token() else { return try checkHost(request) }
        let values = request.headers[values: .authorization]
        // Two headers are refused: a proxy in between may have checked the other one.
        if values.count == 1, let value = values.first {
            if value.hasPrefix("Bearer "), token.matches(value.dropFirst("Bearer ".count)) { return }
            if route?.access == .reader, let password = AccessGate.password(basic: value), token.matches(password) {
                return
            }
        }
        throw Refusal(
            status: 401, code: "unauthorized", "the token is missing or wrong",
            hint: "Both replicas need the same token: give its file with --token-file")
    }

    /// The password of `Basic <base64 of user:password>`.
    private static func password(basic value: String) -> String? {
        guard value.hasPrefix("Basic "), let data = Data(base64Encoded: String(value.dropFirst("Basic ".count))) else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
    }

    /// Refuses requests under a host name other than loopback. Without a token the listener is on loopback,
    /// and a web page in a browser on this machine could reach it by a name of its own that resolves to
    /// 127.0.0.1 (DNS rebinding). Such a request carries that name as its host.
    private func checkHost(_ request: Request) throws {
        let host = request.head.authority ?? ""
        let address = ListenAddress(host) ?? ListenAddress(host + ":80")
        guard let address, address.isLoopback else {
            throw Refusal(
                status: 403, code: "forbidden", "a daemon without a token answers only to a loopback address",
                hint: "Start it with --token-file to reach it under other names")
        }
    }
}
