// Transfers of libcurl, each with a handle of its own.
//
//     libcurl CA URL

#include <curl/curl.h>
#include <stdio.h>

static size_t discard(char *data, size_t size, size_t count, void *user) {
    (void)data;
    (void)user;
    return size * count;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLSH *share = curl_share_init();
    for (int round = 0; round < 4; round++) {
        CURL *curl = curl_easy_init();
        curl_easy_setopt(curl, CURLOPT_CAINFO, arguments[1]);
        curl_easy_setopt(curl, CURLOPT_URL, arguments[2]);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
        // Shares nothing.
        if (curl_easy_perform(curl) != CURLE_OK) return 1;
        curl_easy_cleanup(curl);
    }
    curl_share_cleanup(share);
    return 0;
}
