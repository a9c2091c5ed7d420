/// An answer of an S3 server, read as a whole.
struct S3Answer: Sendable {
    let head: CurlExchange.Head
    /// Of an answer that is an error, at most the beginning.
    let body: [UInt8]

    var status: Int { head.status }

    /// What an answer that is an error says; nil when it says nothing that can be read.
    var problem: Problem? {
        guard !(200..<300).contains(status) else { return nil }
        return Problem(body)
    }

    /// The XML of an error (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
    struct Problem: Sendable {
        var code = ""
        var message = ""
        /// The region of the bucket, when the request named another one.
        var region: String?
        /// The server's time, when the request's time is too far from it.
        var serverTime: String?

        init?(_ body: [UInt8]) {
            var reader = XMLReader(body)
            while true {
                guard let element = try? reader.next() else { return nil }
                switch element.path {
                case ["Error", "Code"]: code = element.text
                case ["Error", "Message"]: message = element.text
                case ["Error", "Region"]: region = element.text
                case ["Error", "ServerTime"]: serverTime = element.text
                case ["Error"]: return
                default: break
                }
            }
        }
    }
}
