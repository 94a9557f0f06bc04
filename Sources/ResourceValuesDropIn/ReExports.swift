// A file that imports only this module gets Foundation, but with the types of
// ResourceValuesFoundation in place of its own, and the members of this module in place of its
// members with the same signatures.
@_exported import ResourceValuesFoundation
