import Foundation
import Glibc

extension FileHandle {
    /// Everything up to the end of a pipe. Foundation's own readers trap or throw when a signal interrupts `read` (signal(7)).
    public func readAll() -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(fileDescriptor, &buffer, buffer.count)
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if count == 0 || errno != EINTR {
                return data
            }
        }
    }

    /// The bytes up to the next line feed, which is taken too, or to the end of a pipe.
    public func readLine() -> Data {
        var line = Data()
        var byte: UInt8 = 0
        while true {
            let count = Glibc.read(fileDescriptor, &byte, 1)
            if count == 1, byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else if count >= 0 || errno != EINTR {
                return line
            }
        }
    }
}
