// A file that imports only this module sees its types in place of Foundation's of the same names.
// On Apple's systems there is nothing else here: Foundation itself has it all.
@_exported import Foundation
