# The command with its embedded English models: `docker build -t srparse .`, then
# `echo "Dogs bark." | docker run -i --rm srparse parse --input text`.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /srparse
COPY . .
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /srparse/target/release/srparse /usr/local/bin/srparse
RUN useradd --no-create-home --shell /usr/sbin/nologin srparse
USER srparse
WORKDIR /data
ENTRYPOINT ["srparse"]
CMD ["--help"]
