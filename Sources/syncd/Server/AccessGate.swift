import Foundation
import HTTPTypes
import Hummingbird

/// Decides who may use a route.
struct AccessGate: Sendable {
    /// Returns the tokens of this moment; none only for a listener on loopback.
    let tokens: @Sendable () -> AccessTokens
    let sessions: Sessions

    /// Throws unless the request may use the route.
    ///
    /// - Parameter route: nil for a path that does not exist. It needs a token like any other, so that a
    ///   caller without one does not learn which paths exist.
    /// - Throws: ``Refusal`` 401 without a token that is accepted, whose text does not tell what is wrong
    ///   with it; 403 for a token without the scope of the route.
    func check(_ request: Request, for route: Route?) throws {
        if route?.action == .form { try checkSite(request) }
        if route?.access == .anyone { return }
        let tokens = tokens()
        guard !tokens.isEmpty else {
            try checkHost(request)
            guard route?.access != .admin else {
                throw Refusal(
                    status: 403, code: "forbidden", "a daemon without tokens takes no orders of callers",
                    hint: "Give it a file with a token of the scope admin: --tokens")
            }
            return
        }
        guard let scopes = scopes(of: request, for: route, tokens) else {
            throw Refusal(
                status: 401, code: "unauthorized", "the token is missing or wrong",
                hint: "Both replicas need the same token: give its file with --token-file")
        }
        let needed = route?.scopes ?? []
        guard !needed.isEmpty, scopes.isDisjoint(with: needed) else { return }
        throw Refusal(
            status: 403, code: "forbidden",
            "the token does not have the scope \(needed.map(\.rawValue).joined(separator: " or "))",
            hint: "The tokens file of the daemon says what each token may be used for")
    }

    /// What the credentials of the request allow; nil for none and for wrong ones.
    private func scopes(of request: Request, for route: Route?, _ tokens: AccessTokens) -> Set<TokenScope>? {
        let values = request.headers[values: .authorization]
        if values.isEmpty, route?.takesSession == true { return sessions.session(of: request.headers)?.scopes }
        // Two headers are refused: a proxy in between may have checked the other one.
        guard values.count == 1, let value = values.first else { return nil }
        if value.hasPrefix("Bearer ") { return tokens.scopes(of: value.dropFirst("Bearer ".count)) }
        guard route?.takesPassword == true, let password = AccessGate.password(basic: value) else { return nil }
        return tokens.scopes(of: password)
    }

    /// The password of `Basic <base64 of user:password>`.
    private static func password(basic value: String) -> String? {
        guard value.hasPrefix("Basic "), let data = Data(base64Encoded: String(value.dropFirst("Basic ".count))) else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
    }

    /// Refuses a form that a page of another site sends. Browsers name the site in this header; programs do
    /// not, and have no session.
    private func checkSite(_ request: Request) throws {
        guard let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headers[name],
            site != "same-origin", site != "none"
        else { return }
        throw Refusal(
            status: 403, code: "forbidden", "the form is on a page of another site",
            hint: "Use the pages of this daemon")
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
