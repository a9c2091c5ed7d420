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
}
