import Foundation
import NIOCore

// Turns errors of listening into failures with a hint.

extension Failure {
    /// - Returns: nil for an error that has nothing to do with listening.
    init?(listeningOn address: ListenAddress, _ error: any Error) {
        switch error {
        case let error as IOError: self.init(listeningOn: address, errno: error.errnoCode)
        case let error as SocketAddressError.UnknownHost:
            self.init(
                "Listening on \(address) failed: \(error.errorDescription)",
                hint: "Give --listen an address of this machine, or a name that it can resolve.")
        default: return nil
        }
    }

    /// - Parameter code: The `errno` of bind(2) or listen(2).
    init(listeningOn address: ListenAddress, errno code: Int32) {
        let hint =
            switch code {
            case EADDRINUSE: "Another program uses the port. Choose one with --listen; port 0 takes a free one."
            case EADDRNOTAVAIL:
                "This machine has no such address. Give one that it has; 0.0.0.0 and [::] mean all of them."
            case EACCES, EPERM: "Ports below 1024 need privileges. Choose a greater one with --listen."
            case EAFNOSUPPORT: "This machine supports no addresses of that kind. Give one of the other, IPv4 or IPv6."
            default: "Choose another address or port with --listen."
            }
        self.init("Listening on \(address) failed: \(String(cString: strerror(code)))", hint: hint)
    }
}
