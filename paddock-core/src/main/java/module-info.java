/** Paddock's public API and the fill engine. */
@org.jspecify.annotations.NullMarked
module dev.paddock.core {
  requires HdrHistogram;
  requires com.github.benmanes.caffeine;
  requires static transitive org.jspecify;

  exports dev.paddock;
  exports dev.paddock.spi;

  uses dev.paddock.spi.LeaseStoreProvider;
  uses dev.paddock.spi.StoreProvider;
}
