import Testing

@testable import Sync

@Suite struct S3AddressTests {
    private func address(_ text: String, _ environment: [String: String] = [:]) throws -> S3Address {
        try S3Address(text, environment: environment)
    }

    private func url(_ text: String, _ environment: [String: String] = [:]) throws -> String {
        S3Request(method: .get, key: "k").url(try address(text, environment))
    }

    @Test("without an endpoint, the server is that of AWS in the region")
    func aws() throws {
        #expect(try url("s3://shop") == "https://shop.s3.us-east-1.amazonaws.com/k")
        #expect(try url("s3://shop?region=eu-west-1") == "https://shop.s3.eu-west-1.amazonaws.com/k")
        #expect(try url("s3://shop", ["AWS_REGION": "ap-south-1"]) == "https://shop.s3.ap-south-1.amazonaws.com/k")
        #expect(
            try url("s3://shop", ["AWS_DEFAULT_REGION": "x1", "AWS_REGION": ""]) == "https://shop.s3.x1.amazonaws.com/k"
        )
        #expect(try url("s3://shop?region=cn-north-1") == "https://shop.s3.cn-north-1.amazonaws.com.cn/k")
        #expect(try url("s3://shop?style=path") == "https://s3.us-east-1.amazonaws.com/shop/k")
        #expect(try url("s3://shop.example.org") == "https://s3.us-east-1.amazonaws.com/shop.example.org/k")
    }

    @Test("an endpoint comes from the address or the environment, and has the bucket in the path")
    func endpoint() throws {
        #expect(try url("s3://shop?endpoint=http://localhost:8333") == "http://localhost:8333/shop/k")
        #expect(try url("s3://shop/?endpoint=HTTPS://S3.example.org/") == "https://s3.example.org/shop/k")
        #expect(try url("s3://shop?endpoint=http%3A%2F%2F%5B%3A%3A1%5D%3A80") == "http://[::1]:80/shop/k")
        #expect(try url("s3://shop?endpoint=https://s3.example.org&style=host") == "https://shop.s3.example.org/k")
        let environment = ["AWS_ENDPOINT_URL_S3": "http://a:1", "AWS_ENDPOINT_URL": "http://b:2"]
        #expect(try url("s3://shop", environment) == "http://a:1/shop/k")
        #expect(try url("s3://shop", ["AWS_ENDPOINT_URL": "http://b:2"]) == "http://b:2/shop/k")
        #expect(try url("s3://shop?endpoint=https://c", environment) == "https://c/shop/k")
    }

    @Test("the prefix begins every key, and names have no options")
    func names() throws {
        let address = try address("s3://shop/a/b-1/?endpoint=http://h:1&region=auto")
        #expect(address.prefix == "a/b-1")
        #expect(address.name == "s3://shop/a/b-1")
        #expect(address.region == "auto")
        #expect(try self.address("s3://shop/").name == "s3://shop")
        #expect(address.isPlain)
        #expect(try !self.address("s3://shop").isPlain)
    }

    @Test(
        "mistakes are refused with a hint, and secrets are never repeated",
        arguments: [
            "", "s3:", "s3://", "S3://shop", "http://shop", "s3://ab", "s3://Shop", "s3://shop_1", "s3://-shop",
            "s3://shop-",
            "s3://a..b", "s3://shop#canary", "s3://key:canary@shop", "s3://shop/canary@x", "s3://shop/A",
            "s3://shop/a b",
            "s3://shop/a%20b", "s3://shop//a", "s3://shop/a//b", "s3://shop/../a", "s3://shop/./a", "s3://shop/.a",
            "s3://shop?secret=canary", "s3://shop?canary", "s3://shop?region=a&region=b", "s3://shop?region=",
            "s3://shop?region=EU", "s3://shop?region=a%0Ab", "s3://shop?region=%", "s3://shop?style=canary",
            "s3://shop?endpoint=canary", "s3://shop?endpoint=ftp://h", "s3://shop?endpoint=http://",
            "s3://shop?endpoint=http://user:canary@h", "s3://shop?endpoint=http://h/canary",
            "s3://shop?endpoint=http://h:0",
            "s3://shop?endpoint=http://h:x", "s3://shop?endpoint=http://h:1:2", "s3://shop?endpoint=http://h:99999",
            "s3://shop?endpoint=http://[::1", "s3://shop?endpoint=http://[canary]", "s3://shop?endpoint=http://h%0A",
            "s3://shop?endpoint=http://127.0.0.1:1&style=host", "s3://shop?endpoint=http://[::1]&style=host",
            "s3://shop?endpoint=http://h?a", "s3://" + String(repeating: "a", count: 64),
            "s3://shop/" + String(repeating: "a", count: 513),
        ])
    func refused(text: String) {
        do {
            _ = try S3Address(text, environment: [:])
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.code == .configuration)
            #expect(error.hint != nil)
            #expect(!"\(error)".contains("canary"))
        }
    }

    @Test("an endpoint of the environment is checked too")
    func badEnvironment() {
        for (name, value) in [("AWS_ENDPOINT_URL", "h:1"), ("AWS_REGION", "a b")] {
            #expect(throws: SyncError.self) { try S3Address("s3://shop", environment: [name: value]) }
        }
    }
}
