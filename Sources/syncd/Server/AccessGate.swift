import Foundation
import HTTPTypes
import Hummingbird
import Journal

/// Decides who may use a route.
struct AccessGate: Sendable {
    /// Returns the tokens of this moment; none only for a listener on loopback.
    let tokens: @Sendable () -> AccessTokens
    let sessions: Sessions
    /// Returns the authorities whose client certificates count at this moment; nil when the listener asks for
    /// none.
    var authorities: @Sendable () -> ClientAuthorities? = { nil }

    /// Throws unless the request may use the route.
    ///
    /// - Parameter certificate: What the caller has shown; it is verified here. nil for none.
    /// - Parameter route: nil for a path that does not exist. It needs a token like any other, so that a
    ///   caller without one does not learn which paths exist.
    /// - Throws: ``Refusal`` 401 without a token that is accepted, whose text does not tell what is wrong
    ///   with it; 403 for a token without the scope of the route.
    /// - Returns: The tables that the caller is limited to; nil for all.
    @discardableResult
    func check(_ request: Request, for route: Route?, certificate: ClientCertificate? = nil) throws -> TableScope? {
        if route?.action == .form { try checkSite(request) }
        if route?.access == .anyone { return nil }
        let tokens = tokens()
        guard !tokens.isEmpty else {
            try checkHost(request)
            guard route?.access != .admin else {
                throw Refusal(
                    status: 403, code: "forbidden", "a daemon without tokens takes no orders of callers",
                    hint: "Give it a file with a token of the scope admin: --tokens")
            }
            return nil
        }
        let shown = ShownCertificate(certificate, authorities())
        guard let grant = try grant(of: request, for: route, tokens, shown) else {
            throw unauthorized(shown, hasToken: !request.headers[values: .authorization].isEmpty)
        }
        let needed = route?.scopes ?? []
        guard !needed.isEmpty, grant.scopes.isDisjoint(with: needed) else { return grant.tables(for: needed) }
        throw Refusal(
            status: 403, code: "forbidden",
            "the token or certificate does not have the scope \(needed.map(\.rawValue).joined(separator: " or "))",
            hint: "The tokens file of the daemon says what each token and certificate may be used for")
    }

    /// What the credentials of the request allow; nil for none and for wrong ones.
    ///
    /// - Throws: ``Refusal`` 403 for an order by a certificate from a page of another site.
    private func grant(
        of request: Request, for route: Route?, _ tokens: AccessTokens, _ shown: ShownCertificate
    ) throws -> AccessGrant? {
        let values = request.headers[values: .authorization]
        if values.isEmpty, route?.takesSession == true,
            let scopes = sessions.session(of: request.headers)?.scopes
        {
            return AccessGrant(scopes, nil)
        }
        // Two headers are refused: a proxy in between may have checked the other one.
        guard values.count <= 1 else { return nil }
        var certificate: ClientCertificate?
        if route?.action != .form, case .valid(let valid) = shown { certificate = valid }
        let grant = tokens.grant(
            token: values.first.flatMap { token(in: $0, for: route) }, certificate: certificate)
        // Browsers show a certificate by themselves, as they send a password.
        if grant != nil, certificate != nil, request.method != .get { try checkSite(request) }
        return grant
    }

    private func token(in value: String, for route: Route?) -> String? {
        if value.hasPrefix("Bearer ") { return String(value.dropFirst("Bearer ".count)) }
        return route?.takesPassword == true ? AccessGate.password(basic: value) : nil
    }

    /// The answer to a caller whom nothing identifies. What is wrong with a token is not told. What is wrong with a
    /// certificate is nothing that its owner could not know.
    private func unauthorized(_ shown: ShownCertificate, hasToken: Bool) -> Refusal {
        switch shown {
        case .refused(let refusal):
            return Refusal(status: 401, code: "unauthorized", refusal.message, hint: refusal.hint)
        case .valid(let certificate):
            let fingerprint = certificate.fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return Refusal(
                status: 401, code: "unauthorized",
                hasToken
                    ? "the token is wrong, and the client certificate is not enough"
                    : "no line of the daemon's tokens file is for the client certificate alone",
                hint: "The line for it ends in cert-name: and a name of it, or in cert-sha256:\(fingerprint)")
        case .none where !hasToken:
            return Refusal(
                status: 401, code: "unauthorized", "there is neither a token nor a client certificate",
                hint: "Give a token with --token-file, or a certificate with --tls-cert and --tls-key")
        case .none, .notAskedFor:
            return Refusal(
                status: 401, code: "unauthorized", "the token is missing or wrong",
                hint: "Both replicas need the same token: give its file with --token-file")
        }
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

/// The client certificate of a connection, at the moment of a request.
private enum ShownCertificate {
    /// The listener asks for none.
    case notAskedFor
    case none
    case valid(ClientCertificate)
    case refused(CertificateRefusal)

    init(_ certificate: ClientCertificate?, _ authorities: ClientAuthorities?) {
        guard let authorities else {
            self = .notAskedFor
            return
        }
        guard let certificate else {
            self = .none
            return
        }
        self = authorities.refusal(of: certificate).map { .refused($0) } ?? .valid(certificate)
    }
}
