// A file that imports only this module uses its types in place of Foundation's of the same names.
// On Apple's systems there is nothing else here, since Foundation provides it all.
@_exported import Foundation
