import Testing

@testable import Sync

@Suite struct ErrorBodyTests {
    let limits = Limits.standard

    @Test("an error's JSON body holds code, message and hint")
    func json() throws {
        let error = SyncError(.otherCluster, "The peer is of cluster \"b\"", hint: "Check the address.")
        let json = String(decoding: error.jsonBody(), as: UTF8.self)
        #expect(json.hasPrefix(#"{"error":{"code":"other_cluster","hint":"Check the address.","#))
        #expect(json.hasSuffix(#""message":"The peer is of cluster \"b\""}}"#))
        let read = SyncError(
            httpStatus: 409, body: error.jsonBody(), peer: "http://b:1", retryAfter: nil, limits: limits)
        #expect(read.code == .otherCluster)
        #expect(read.hint == error.hint)
        #expect(read.message.contains(error.message))
    }

    @Test("every code has a name of its own and survives the wire")
    func codes() {
        #expect(Set(SyncError.Code.all.map(\.name)).count == SyncError.Code.all.count)
        for code in SyncError.Code.all {
            #expect(SyncError.Code(name: code.name) == code)
            #expect((400...599).contains(code.httpStatus))
        }
        #expect(SyncError.Code(name: "of the future") == nil)
    }

    @Test("a body that is no error body is not shown", arguments: ["", "<html>secret</html>", "[[[[", "{\"error\":1}"])
    func otherBodies(body: String) {
        let error = SyncError(
            httpStatus: 502, body: Array(body.utf8), peer: "http://b:1", retryAfter: nil, limits: limits)
        #expect(error.message == "http://b:1 answered 502")
        #expect(error.isRetryable)
    }

    @Test("a peer's text is shortened and loses its control characters")
    func hostileText() throws {
        let text = #"a\u0000\n\u001b[31m"# + String(repeating: "x", count: 5_000)
        let body = #"{"error":{"code":"invalid","message":""# + text + #""}}"#
        let error = SyncError(httpStatus: 400, body: Array(body.utf8), peer: "p", retryAfter: nil, limits: limits)
        #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 })
        #expect(error.message.count < 1_100)
    }

    @Test("deeply nested JSON does not overflow the stack")
    func nested() {
        let body = [UInt8](repeating: UInt8(ascii: "["), count: limits.errorBodyBytes)
        #expect(SyncError.decodingJSONBody(body, limits: limits) == nil)
    }

    @Test(
        "Retry-After is clamped",
        arguments: [
            ("5", 5), (" 7 ", 7), ("0", 1), ("301", 300), ("99999999999999999999", 300), ("-1", nil), ("", nil),
            ("1e9", nil), ("Fri, 31 Dec 1999 23:59:59 GMT", nil), ("999999999999999999999999", nil), ("5 6", 5),
        ] as [(String, Int64?)])
    func retryAfter(header: String, seconds: Int64?) {
        #expect(SyncError.retryAfterSeconds(header, limits: limits) == seconds)
    }
}
