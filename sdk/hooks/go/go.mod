module host.internal/safety

go 1.25

require host.internal/contract v0.0.0

replace host.internal/contract => ./build/contract
