import Foundation
import Glibc

extension FileHandle {
    /// Reads up to the end of a pipe. Foundation's own readers trap or throw when a signal interrupts `read`
    /// (signal(7)).
    package func readAll() -> Data {
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

    /// Reads up to the next line feed, which is consumed too, or to the end of a pipe.
    package func readLine() -> Data {
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
