import Journal
import SwiftProtobuf
import CCurl
import CCompression
import Crypto
public func hi() -> String { String(cString: curl_version()) + " \(ZSTD_versionNumber())" }
