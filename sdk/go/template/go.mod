module plugin.internal/{{name}}

go 1.25

require host.internal/host v0.0.0

require host.internal/contract v0.0.0 // indirect

replace (
	host.internal/contract => ./build/contract
	host.internal/host => ./host
)
