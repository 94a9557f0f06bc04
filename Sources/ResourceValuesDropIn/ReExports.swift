// A file that imports only this module sees Foundation, the types of ResourceValuesFoundation in place
// of Foundation's, and the members here in place of Foundation's members of the same signatures.
@_exported import ResourceValuesFoundation
